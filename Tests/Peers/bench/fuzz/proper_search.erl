%% PropEr's state machines on the open benchmark: the machine `sesame-table` and the emulated lock `reference`.
%% usage: erl -noshell -s proper_search main RUNS BUDGET    prints one JSON object a figure; budget: events for each run
%% The runs have no seeds: this PropEr has no option for one.
-module(proper_search).
-export([main/1, command/1, initial_state/0, next_state/3, precondition/2, postcondition/3,
         ev/1]).
-record(m, {st = noSignal, reg = true, conf = true}).  % the model
-record(e, {st = noSignal, reg = true, conf = true, x = 16#9E3779B9, bug = 0,
            seen = false, ab = 0, lab = 0, h1, h2, h3}).  % the lock

%% What the tables allow.
legal(noSignal, _) -> [closeTo];
legal(receivedBle, _) -> [connect];
legal(connecting, _) -> [linkUp];
legal(waitingGatt, _) -> [gattReady];
legal(readytoRegister, false) -> [register];
legal(registering, false) -> [registered];
legal(logining, true) -> [loginDone, disconnect];
legal(nosetting, true) -> [configure, disconnect, reset];
legal(reset, true) -> [disconnect];
legal(_Set, true) -> [lock, unlock, toggle, disconnect, reset].  % locked, unlocked, moved, or not known yet

%% The emulated lock; it lives in the process dictionary.
draw(X0) ->
    X1 = (X0 bxor (X0 bsl 13)) band 16#FFFFFFFF,
    X2 = X1 bxor (X1 bsr 17),
    (X2 bxor (X2 bsl 5)) band 16#FFFFFFFF.
bolt(X) -> element(1 + X rem 3, {locked, unlocked, moved}).

ev(Ev) ->
    E = get(emu),
    case lists:member(Ev, legal(E#e.st, E#e.reg)) of
        false -> E#e.st;
        true ->
            E1 = step(Ev, E),
            put(emu, E1#e{h1 = Ev, h2 = E#e.h1, h3 = E#e.h2}),
            put(steps, get(steps) + 1),
            E1#e.st
    end.
step(closeTo, E) -> E#e{st = receivedBle};
step(connect, E) -> E#e{st = connecting};
step(linkUp, E) -> E#e{st = waitingGatt};
step(gattReady, E = #e{reg = true}) -> E#e{st = logining};
step(gattReady, E) -> E#e{st = readytoRegister};
step(register, E) -> E#e{st = registering};
step(registered, E) -> E#e{st = nosetting, reg = true, ab = 0};
step(configure, E) -> X = draw(E#e.x), E#e{st = bolt(X), x = X, conf = true};
step(loginDone, E = #e{conf = true}) -> X = draw(E#e.x), E#e{st = bolt(X), x = X, lab = E#e.ab, ab = 0};
step(loginDone, E) -> E#e{st = nosetting, lab = E#e.ab, ab = 0};
step(lock, E = #e{bug = 2, h1 = toggle, h2 = toggle, h3 = loginDone, lab = L}) when L >= 4 -> E#e{st = moved};
step(lock, E) -> E#e{st = locked};
step(unlock, E = #e{bug = 1, seen = true, h1 = lock, h2 = H}) when H =:= loginDone; H =:= configure -> E;
step(unlock, E) -> E#e{st = unlocked};
step(toggle, E = #e{st = locked}) -> E#e{st = unlocked};
step(toggle, E) -> E#e{st = locked};
step(disconnect, E = #e{st = logining}) -> E#e{st = noSignal, ab = E#e.ab + 1};
step(disconnect, E = #e{st = reset}) -> E#e{st = noSignal, reg = false, conf = false};
step(disconnect, E) -> E#e{st = noSignal};
step(reset, E) -> E#e{st = reset, seen = true}.

%% The model, as PropEr's state machines are written.
initial_state() -> #m{}.
command(#m{st = S, reg = R}) -> {call, ?MODULE, ev, [proper_types:oneof(legal(S, R))]}.
precondition(#m{st = S, reg = R}, {call, _, _, [Ev]}) -> lists:member(Ev, legal(S, R)).
next_state(M, _, {call, _, _, [closeTo]}) -> M#m{st = receivedBle};
next_state(M, _, {call, _, _, [connect]}) -> M#m{st = connecting};
next_state(M, _, {call, _, _, [linkUp]}) -> M#m{st = waitingGatt};
next_state(M = #m{reg = true}, _, {call, _, _, [gattReady]}) -> M#m{st = logining};
next_state(M, _, {call, _, _, [gattReady]}) -> M#m{st = readytoRegister};
next_state(M, _, {call, _, _, [register]}) -> M#m{st = registering};
next_state(M, _, {call, _, _, [registered]}) -> M#m{st = nosetting, reg = true};
next_state(M, R, {call, _, _, [configure]}) -> M#m{st = R, conf = true};
next_state(M = #m{conf = true}, R, {call, _, _, [loginDone]}) -> M#m{st = R};
next_state(M, _, {call, _, _, [loginDone]}) -> M#m{st = nosetting};
next_state(M, _, {call, _, _, [lock]}) -> M#m{st = locked};
next_state(M, _, {call, _, _, [unlock]}) -> M#m{st = unlocked};
next_state(M, R, {call, _, _, [toggle]}) -> M#m{st = R};
next_state(M = #m{st = reset}, _, {call, _, _, [disconnect]}) -> M#m{st = noSignal, reg = false, conf = false};
next_state(M, _, {call, _, _, [disconnect]}) -> M#m{st = noSignal};
next_state(M, _, {call, _, _, [reset]}) -> M#m{st = reset}.
postcondition(M, {call, _, _, [Ev]}, R) -> ok(M, Ev, R).
ok(#m{}, configure, R) -> lists:member(R, [locked, unlocked, moved]);
ok(#m{conf = true}, loginDone, R) -> lists:member(R, [locked, unlocked, moved]);
ok(#m{st = locked}, toggle, R) -> R =:= unlocked;
ok(#m{st = unlocked}, toggle, R) -> R =:= locked;
ok(#m{}, toggle, R) -> R =:= locked orelse R =:= unlocked;
ok(M, Ev, R) -> (next_state(M, R, {call, ?MODULE, ev, [Ev]}))#m.st =:= R.

prop(Bug) ->
    proper:forall(proper_statem:commands(?MODULE),
        fun(Cmds) ->
            put(emu, #e{bug = Bug}), put(tests, get(tests) + 1),
            {_H, _S, Res} = proper_statem:run_commands(?MODULE, Cmds),
            case Res of
                ok -> true;
                _ ->
                    case get(first) of
                        undefined -> put(first, {get(tests), get(steps)});
                        _ -> ok
                    end,
                    put(lastlen, length(Cmds)),
                    false
            end
        end).

reset() -> [put(K, 0) || K <- [tests, steps]], erase(first), erase(lastlen).

median(L) ->
    S = lists:sort(L), N = length(S),
    case N rem 2 of
        1 -> lists:nth(N div 2 + 1, S);
        0 -> (lists:nth(N div 2, S) + lists:nth(N div 2 + 1, S)) / 2
    end.

say(Bug, What, Value) -> say(Bug, What, Value, "").
say(Bug, What, Value, More) ->
    io:format("{\"name\": \"proper.bug~b.~s\", \"value\": ~p~s}~n", [Bug, What, Value, More]).

%% Runs a property as often as makes up the budget: about 25 events for a test.
check(Bug, Budget) ->
    reset(),
    erlang:garbage_collect(),
    proper:quickcheck(prop(Bug),
        [quiet, {numtests, Budget div 25}, {start_size, 50}, {max_size, 50}, {max_shrinks, 5000}]).

search(Bug, Shortest, Runs, Budget) ->
    Rows = [begin
        check(Bug, Budget),
        case get(first) of
            undefined -> not_found;
            {T, S} -> {S, get(lastlen), get(tests) - T, get(steps) - S}
        end end || _ <- lists:seq(1, Runs)],
    Found = [R || R <- Rows, is_tuple(R)],
    say(Bug, "found", length(Found), io_lib:format(", \"of\": ~b", [Runs])),
    case Found of
        [] -> ok;
        _ ->
            [First, Length, Tests, Steps] = [[element(I, R) || R <- Found] || I <- [1, 2, 3, 4]],
            say(Bug, "find", median(First)),
            say(Bug, "find-worst", lists:max(First)),
            say(Bug, "minimum", length([L || L <- Length, L =:= Shortest]), io_lib:format(", \"of\": ~b", [length(Found)])),
            say(Bug, "shrink-runs", median(Tests)),
            say(Bug, "shrink-events", median(Steps))
    end.

main([RunsAtom, BudgetAtom]) ->
    [Runs, Budget] = [list_to_integer(atom_to_list(A)) || A <- [RunsAtom, BudgetAtom]],
    T0 = erlang:monotonic_time(microsecond),
    check(0, 100000),
    W = (erlang:monotonic_time(microsecond) - T0) / 1.0e6,
    io:format("{\"name\": \"proper.events\", \"value\": ~b, \"unit\": \"events/s\"}~n", [round(get(steps) / W)]),
    search(1, 16, Runs, Budget),
    search(2, 28, Runs, Budget),
    halt().
