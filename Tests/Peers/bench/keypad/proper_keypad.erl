%% Tests the keypad lock with PropEr, in its own process, and prints a table: a row for each fault and seed.
%% usage: erl -noshell -run proper_keypad main EVENTS SEEDS FAULT…     `healthy` is no fault; without a name, all faults
%% An event is a stimulus or a wait. EVENTS limits the search of each seed.
-module(proper_keypad).
-export([main/1, command/1, initial_state/0, next_state/3, precondition/2, postcondition/3, run/1]).

-define(DURESS, "9119").
-define(LENGTH, 100).
%% The model: codes and tries of users, all codes that ever were, and the log as it must be.
-record(m, {now = 0, status = locked, due = never, number = 0, log = [], known = ["1234", "2468", ?DURESS],
            codes = [{anna, "1234"}, {bob, "2468"}], tries = [{anna, 0}, {bob, 0}]}).

%% What the lock must show, and the model after it.
expected({wait, Time}, M = #m{now = Now, due = Due}) when Due =< Now + Time ->
    {[{Due, locked}], M#m{now = Now + Time, status = locked, due = never}};
expected({wait, Time}, M = #m{now = Now}) -> {[], M#m{now = Now + Time}};
expected({enter, User, Code}, M = #m{status = S, now = Now, codes = Codes, tries = Tries}) when S =:= locked; S =:= unlocked ->
    IsRight = Code =:= ?DURESS orelse lists:member({User, Code}, Codes),
    case {S, IsRight} of
        {unlocked, true} -> {[{effect, beep}], M#m{due = Now + 7000}};
        {unlocked, false} -> {[{effect, buzz}], M};
        {locked, true} when Code =:= ?DURESS ->
            {[{status, unlocked}, {effect, alarm}], opened(User, written(User, duress, M))};
        {locked, true} -> {[{status, unlocked}], opened(User, written(User, opened, M))};
        {locked, false} ->
            Wrong = written(User, refused, M),
            case proplists:get_value(User, Tries) of
                2 -> {[{status, lockedOut}], tried(User, 0, Wrong#m{status = lockedOut, due = Now + 60000})};
                Count -> {[{effect, buzz}], tried(User, Count + 1, Wrong)}
            end
    end;
expected(lock, M = #m{status = unlocked}) -> {[{status, locked}], M#m{status = locked, due = never}};
expected({change, User, Old, New}, M = #m{status = S, codes = Codes, known = Known}) when S =:= locked; S =:= unlocked ->
    Length = length(New),
    case lists:member({User, Old}, Codes) andalso Length >= 4 andalso Length =< 6 andalso New =/= ?DURESS of
        true -> {[{effect, done}], M#m{codes = lists:keystore(User, 1, Codes, {User, New}), known = lists:usort([New | Known])}};
        false -> {[{effect, denied}], M}
    end;
expected({delete, User}, M = #m{status = unlocked, codes = Codes}) ->
    case lists:keymember(User, 1, Codes) of
        true -> {[{effect, done}], M#m{codes = lists:keydelete(User, 1, Codes)}};
        false -> {[{effect, denied}], M}
    end;
expected(read, M = #m{status = S, log = Log}) when S =/= firmware -> {[{log, Log}], M};
expected(update, M = #m{status = locked}) -> {[{status, firmware}], M#m{status = firmware}};
expected(finish, M = #m{status = firmware}) -> {[{status, locked}], M#m{status = locked}};
expected(reset, #m{status = S, now = Now, number = Number, known = Known}) ->
    {[{status, locked} || S =/= locked] ++ [{effect, done}], #m{now = Now, number = Number, known = Known}};
expected(_, M) -> {[refused], M}.

opened(User, M = #m{now = Now}) -> tried(User, 0, M#m{status = unlocked, due = Now + 7000}).

tried(User, Count, M = #m{tries = Tries}) -> M#m{tries = lists:keystore(User, 1, Tries, {User, Count})}.

written(User, Event, M = #m{now = Now, number = Number, log = Log}) ->
    M#m{number = Number + 1, log = lists:sublist([{Number + 1, User, Event, Now} | Log], 10)}.

%% Whether the lock has shown what it must. The times of records may differ by a second.
agree([{log, Log}], [{log, Due}]) ->
    length(Log) =:= length(Due) andalso lists:all(
        fun({{N, User, Event, Time}, {Number, DueUser, DueEvent, DueTime}}) ->
            {N, User, Event} =:= {Number, DueUser, DueEvent} andalso abs(Time - DueTime) =< 1000
        end, lists:zip(Log, Due));
agree(Shown, Due) -> Shown =:= Due.

%% What is generated. Refusals are in the model, so that all stimuli are possible everywhere; most are those that do something.
stimulus(M = #m{status = S}) ->
    Any = [{6, enter_own}, {2, enter_duress}, {3, enter_almost}, {3, enter_any}, {3, change_own}, {1, change_any}],
    Choices = [{1, reset}, {1, refused} | case S of
        locked -> [{3, read}, {1, update}, {3, wait} | Any];
        unlocked -> [{3, read}, {5, lock}, {1, delete}, {4, wait} | Any];
        lockedOut -> [{2, read}, {6, wait}];
        firmware -> [{6, finish}, {2, wait}]
    end],
    % Only what is chosen is built.
    proper_types:frequency([{Weight, proper_types:lazy(fun() -> stimulus(Kind, M) end)} || {Weight, Kind} <- Choices]).

stimulus(enter_own, M) -> of_user(fun(User) -> {enter, User, own(User, M)} end);
stimulus(enter_duress, _) -> {enter, user(), ?DURESS};
stimulus(enter_almost, M) -> of_user(fun(User) -> {enter, User, almost(own(User, M))} end);
stimulus(enter_any, M) -> {enter, user(), code(M)};
stimulus(change_own, M) -> of_user(fun(User) -> {change, User, own(User, M), new(M)} end);
stimulus(change_any, M) -> {change, user(), code(M), new(M)};
stimulus(delete, _) -> {delete, user()};
stimulus(wait, _) ->
    {wait, proper_types:oneof([
        proper_types:oneof([500, 1000, 2000, 3000, 4000, 6000, 6900, 7000, 8000, 30000, 53000, 59900, 60000, 61000]),
        proper_types:integer(1, 120000)])};
stimulus(refused, M) ->
    proper_types:oneof([proper_types:lazy(fun() -> stimulus(Kind, M) end)
        || Kind <- [lock, read, update, finish, delete, enter_duress, change_own]]);
stimulus(Kind, _) -> Kind.

user() -> proper_types:oneof([anna, bob]).

of_user(Make) -> proper_types:bind(user(), Make, false).

%% A code that was one, or nearly one.
code(#m{known = Known}) -> proper_types:oneof([proper_types:oneof(Known), almost(proper_types:oneof(Known))]).

%% A code to change to; some are too short, too long, or the duress code.
new(M) ->
    proper_types:oneof([proper_types:vector(N, proper_types:integer($0, $9)) || N <- [4, 5, 6]] ++ [code(M)]).

%% The code of a user; of a deleted one, the first.
own(User, #m{codes = Codes}) -> proplists:get_value(User, Codes, proplists:get_value(User, (#m{})#m.codes)).

%% A neighbour of a code.
almost(Code) -> proper_types:bind({Code, proper_types:integer(1, 8)}, fun({Text, N}) -> neighbour(N, Text) end, false).

neighbour(1, Code) -> Code ++ "0";
neighbour(2, Code) -> Code ++ "5";
neighbour(3, Code) -> lists:droplast(Code);
neighbour(4, Code) -> tl(Code);
neighbour(5, Code) -> lists:droplast(Code) ++ [lists:last(Code) + 1];
neighbour(6, Code) -> lists:droplast(Code) ++ [lists:last(Code) - 1];
neighbour(7, [First | Code]) -> [First bxor 1 | Code];
neighbour(8, Code) -> lists:reverse(Code).

%% The model, as PropEr's state machines are written.
initial_state() -> #m{}.
command(M) -> {call, ?MODULE, run, [stimulus(M)]}.
precondition(_, _) -> true.
next_state(M, _, {call, _, _, [Stimulus]}) -> element(2, expected(Stimulus, M)).
postcondition(M, {call, _, _, [Stimulus]}, Shown) -> agree(Shown, element(1, expected(Stimulus, M))).

%% The lock and its time are in the process dictionary, beside what a search has cost and found.
run(Stimulus) ->
    put(events, get(events) + 1),
    {Shown, Lock} = case Stimulus of
        {wait, Time} ->
            put(now, get(now) + Time),
            keypad:advance(get(now), get(lock));
        _ -> keypad:ask(get(now), Stimulus, get(lock))
    end,
    put(lock, Lock),
    Shown.

property(Fault) ->
    proper:forall(proper_statem:commands(?MODULE), fun(Commands) ->
        put(lock, keypad:new(Fault)),
        put(now, 0),
        {_, _, Result} = proper_statem:run_commands(?MODULE, Commands),
        case Result of
            ok -> ok;
            _ ->
                get(found) =/= undefined orelse put(found, get(events)),
                put(length, length(Commands))
        end,
        Result =:= ok
    end).

%% Searches in rounds of a hundred tests, until something is found and shrunk or the events are spent.
search(Fault, Seed, Round, Events) ->
    % PropEr has no option for a seed, and takes one that is there.
    rand:seed(exsplus, {Seed, Round, 1}),
    proper:quickcheck(property(Fault),
        [quiet, {numtests, 100}, {start_size, ?LENGTH}, {max_size, ?LENGTH}, {max_shrinks, 5000}]),
    case get(found) =:= undefined andalso get(events) < Events of
        true -> search(Fault, Seed, Round + 1, Events);
        false -> ok
    end.

row(Fault, Seed, Events) ->
    put(events, 0),
    [erase(Key) || Key <- [found, length]],
    {Start, _} = statistics(runtime),
    search(Fault, Seed, 1, Events),
    {End, _} = statistics(runtime),
    {Found, Length} = case get(found) of
        undefined -> {"not found", "-"};
        Count -> {integer_to_list(Count), integer_to_list(get(length))}
    end,
    Spent = get(events),
    io:format("| ~s | ~b | ~s | ~s | ~b | ~b |~n", [Fault, Seed, Found, Length, Spent, Spent * 1000 div max(1, End - Start)]).

main([Events, Seeds | Names]) ->
    Faults = case Names of [] -> keypad:faults(); _ -> [list_to_atom(Name) || Name <- Names] end,
    io:format("| fault | seed | found after | shrunk to | events | events/s |~n|---|---|---|---|---|---|~n"),
    [row(Fault, Seed, list_to_integer(Events)) || Fault <- Faults, Seed <- lists:seq(1, list_to_integer(Seeds))],
    halt().
