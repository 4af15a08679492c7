%% The keypad lock of keypad.py in Erlang, healthy or with one fault. It has no clock: time is an argument, in milliseconds.
-module(keypad).
-export([faults/0, new/1, ask/3, advance/2]).

-define(DURESS, "9119").
-record(lock, {fault, status = locked, due = never, number = 0, codes, tries, log,
               deleted = #{}, boot = none, also = #{}}).  % what faults remember

faults() ->
    ['off-by-one', 'count-survives-reset', 'log-wraps-wrongly', 'silent-duress', 'deleted-user-opens', prefix,
     'relock-not-restarted', 'time-of-boot', 'number-reused', 'shared-tries', 'one-in-a-million'].

%% A lock as at first; it is `healthy`, or has a fault.
new(Fault) -> clear(#lock{fault = Fault, tries = #{}}).

%% The data as they were at first. The number of the last record stays.
clear(L = #lock{fault = Fault}) ->
    L#lock{codes = #{anna => "1234", bob => "2468"}, log = [], deleted = #{}, boot = none, also = #{},
           tries = case Fault of 'count-survives-reset' -> L#lock.tries; _ -> #{} end,
           number = case Fault of 'number-reused' -> 0; _ -> L#lock.number end}.

%% Lets time pass: what was shown, as pairs of a time and a status, and the lock.
advance(Now, L = #lock{due = Due}) when Due =< Now -> {[{Due, locked}], turn(locked, L)};
advance(_, L) -> {[], L}.

%% Takes a stimulus, before which nothing is due: what was shown, and the lock.
ask(Now, {enter, User, ?DURESS}, L = #lock{status = locked, fault = Fault}) ->
    IsSilent = Fault =:= 'silent-duress' andalso tries(User, L) > 0,
    {[{status, unlocked} | [{effect, alarm} || not IsSilent]], open(Now, User, duress, L)};
ask(Now, {enter, User, Code}, L = #lock{status = locked}) ->
    case is_right(User, Code, L) of
        true -> {[{status, unlocked}], open(Now, User, opened, L)};
        false -> count(Now, User, record(Now, User, refused, L))
    end;
ask(Now, {enter, User, Code}, L = #lock{status = unlocked}) ->
    case Code =:= ?DURESS orelse is_right(User, Code, L) of
        true -> {[{effect, beep}], restart(Now, L)};
        false -> {[{effect, buzz}], L}
    end;
ask(_, lock, L = #lock{status = unlocked}) -> {[{status, locked}], turn(locked, L)};
ask(_, {change, User, Old, New}, L = #lock{status = S, codes = Codes}) when S =:= locked; S =:= unlocked ->
    case Codes of
        #{User := Old} when length(New) >= 4, length(New) =< 6, New =/= ?DURESS -> {[{effect, done}], adopt(User, New, L)};
        _ -> {[{effect, denied}], L}
    end;
ask(_, {delete, User}, L = #lock{status = unlocked, codes = Codes, also = Also, deleted = Deleted}) ->
    case maps:take(User, Codes) of
        {Code, Left} ->
            {[{effect, done}], L#lock{codes = Left, also = maps:remove(User, Also), deleted = Deleted#{User => Code}}};
        error -> {[{effect, denied}], L}
    end;
ask(_, read, L = #lock{status = S, log = Log}) when S =/= firmware -> {[{log, Log}], L};
ask(_, update, L = #lock{status = locked}) -> {[{status, firmware}], turn(firmware, L)};
ask(Now, finish, L = #lock{status = firmware}) -> {[{status, locked}], turn(locked, L#lock{boot = Now})};
ask(_, reset, L = #lock{status = S}) ->
    {[{status, locked} || S =/= locked] ++ [{effect, done}], turn(locked, clear(L))};
ask(_, _, L) -> {[refused], L}.

turn(Status, L) -> L#lock{status = Status, due = never}.

open(Now, User, Event, L) ->
    restarted(Now, set_tries(User, 0, record(Now, User, Event, L#lock{status = unlocked}))).

restart(_, L = #lock{fault = 'relock-not-restarted'}) -> L;
restart(Now, L) -> restarted(Now, L).

restarted(Now, L) -> L#lock{due = Now + 7000}.

%% Counts a wrong try, whose record is written.
count(Now, User, L = #lock{fault = Fault}) ->
    Most = case Fault of 'off-by-one' -> 4; _ -> 3 end,
    case tries(User, L) + 1 of
        Most -> {[{status, lockedOut}], (set_tries(User, 0, L))#lock{status = lockedOut, due = Now + 60000}};
        Tries -> {[{effect, buzz}], set_tries(User, Tries, L)}
    end.

counter(_, #lock{fault = 'shared-tries'}) -> both;
counter(User, _) -> User.

tries(User, L = #lock{tries = Tries}) -> maps:get(counter(User, L), Tries, 0).

set_tries(User, Count, L = #lock{tries = Tries}) -> L#lock{tries = Tries#{counter(User, L) => Count}}.

is_right(User, Code, #lock{fault = Fault, codes = Codes, deleted = Deleted, also = Also}) ->
    Own = maps:get(User, Codes, none),
    Own =:= Code orelse
        case Fault of
            prefix -> Own =/= none andalso lists:sublist(Own, 4) =:= lists:sublist(Code, 4);
            'deleted-user-opens' -> maps:get(User, Deleted, none) =:= Code;
            'one-in-a-million' -> maps:get(User, Also, none) =:= Code;
            _ -> false
        end.

adopt(User, Code, L = #lock{codes = Codes, also = Also}) ->
    IsMillion = length(Code) =:= 6 andalso lists:all(fun(C) -> C >= $0 andalso C =< $9 end, Code),
    L#lock{codes = Codes#{User => Code},
           also = case IsMillion of true -> Also#{User => next(Code)}; false -> maps:remove(User, Also) end}.

%% The code whose last digit is one greater.
next(Code) ->
    {Head, [Last]} = lists:split(5, Code),
    Head ++ [$0 + (Last - $0 + 1) rem 10].

record(Now, User, Event, L = #lock{fault = Fault, number = Number, log = Log, boot = Boot}) ->
    Time = case Fault of 'time-of-boot' when Boot =/= none -> Boot; _ -> Now end,
    L#lock{number = Number + 1, log = [{Number + 1, User, Event, Time} | kept(Fault, Log)]}.

%% What stays of a log when a record comes.
kept('log-wraps-wrongly', [Newest, _ | Log]) when length(Log) =:= 8 -> [Newest | Log];
kept(_, Log) -> lists:sublist(Log, 9).
