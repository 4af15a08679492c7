#!/bin/bash
# Runs scenarios as an array of Slurm jobs in which one task is killed in the middle and started again, and two are started
# twice; then the same shards in a row, without Slurm; and compares the merged reports byte by byte.
# usage: cluster.sh shards.sh LOCKSTEP SCENARIOS SHARDS       in an empty folder; LOCKSTEP and SCENARIOS are absolute paths
# Prints how long the array took in seconds, and ends with 0 when the reports are equal, with 4 when they are not.
set -eu
lockstep=$1 scenarios=$2 shards=$3
folder=$PWD
mkdir array row
cp -R "$scenarios" array/Scenarios
cp -R "$scenarios" row/Scenarios

# In place of the program: the first go at shard 2 is killed as soon as its journal has cases in it.
cat > program << PROGRAM
#!/bin/bash
if [ "\${SLURM_ARRAY_TASK_ID:-}" = 2 ] && mkdir "$folder/once" 2> /dev/null; then
  "$lockstep" run --repeat=500 "\${@:2}" &
  until grep -qs '"verdict"' Reports/*/shard-2/runs/*/journal.jsonl; do sleep 0.02; done
  kill -KILL \$! \$\$
fi
exec "$lockstep" "\$@"
PROGRAM
chmod +x program

# The batch file is what the recipe hands to sbatch.
"$lockstep" schedule slurm --shards "$shards" --command "$folder/program" --folder "$folder/array" > recipe.sh
sed -n "/<<'TASK'/,/^TASK\$/p" recipe.sh | sed '1d;$d' > task.sh

state() { scontrol --oneliner show job "$1" | sed 's/.*JobState=\([A-Z]*\).*/\1/'; }
await() {
  for _ in $(seq 600); do
    [ "$(state "$1")" != "$2" ] || return 0
    sleep 0.1
  done
  echo "task $1 is $(state "$1"), and not $2" >&2
  scontrol show job "$1" >&2
  exit 1
}

start=$(date +%s%N)
cd array
mkdir Reports
array=$(sbatch --parsable ../task.sh)
await "${array}_2" FAILED
await "${array}_1" COMPLETED
await "${array}_$shards" COMPLETED
for task in 1 2 "$shards"; do
  scontrol requeue "${array}_$task"
  # It would wait two minutes, in case that the node comes back with the first go.
  scontrol update JobId="${array}_$task" StartTime=now
done
# What was started again is counted: a task that was not counts none.
for _ in $(seq 400); do
  again=$(scontrol --oneliner show job "$array" | grep -c 'JobState=COMPLETED .*Restarts=1') || true
  done=$(scontrol --oneliner show job "$array" | grep -c 'JobState=COMPLETED') || true
  [ "$again/$done" != "3/$shards" ] || break
  sleep 0.1
done
if [ "$again/$done" != "3/$shards" ]; then
  echo "$done of $shards tasks were completed, $again of them the second time" >&2
  scontrol --oneliner show job "$array" | grep -v 'JobState=COMPLETED .*Restarts=0' >&2
  exit 1
fi
seconds=$((($(date +%s%N) - start) / 1000000000))
for task in 1 2 "$shards"; do
  goes=("Reports/$array/shard-$task/runs"/*)
  [ ${#goes[@]} = 2 ] || echo "shard $task ran ${#goes[@]} times, and not twice" >&2
done

cd ../row
for shard in $(seq "$shards"); do
  LOCKSTEP_JOB="slurm-lockstep-$array" "$lockstep" run --quiet --shard="$shard/$shards" \
    --out="Reports/$array/shard-$shard" --html=none --history=none -- Scenarios > /dev/null
done
cd ..
# The order in which they are named does not matter.
(cd array && "$lockstep" report --quiet --reproducible --out=Reports Reports/"$array"/shard-*/runs/*)
(
  cd row
  readarray -t runs < <(printf '%s\n' Reports/"$array"/shard-*/runs/* | tac)
  "$lockstep" report --quiet --reproducible --out=Reports "${runs[@]}"
)
for report in junit.xml report.html; do
  cmp "array/Reports/$report" "row/Reports/$report" || exit 4
done
echo "$seconds"
