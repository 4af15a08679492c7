#!/bin/bash
# Made by: {{origin}}
# It submits {{jobs}} and one that merges their reports, waits for that, and ends with its status.
# Options for both, such as a partition, follow: {{name}}.sh --partition=bench
set -eu
cd -- {{folder}}
mkdir -p {{out}}

array=$(sbatch --parsable "$@" <<'TASK'
#!/bin/bash
#SBATCH --job-name={{name}}
#SBATCH --array=1-{{shards}}
#SBATCH --ntasks=1
#SBATCH --output={{out}}/slurm-%A_%a.out
#SBATCH --time={{minutes}}
# Five minutes before that it is asked to end: it finishes its step, leaves the lock safe and writes its report.
#SBATCH --signal=B:TERM@300
{{again}}
{{license}}
# In place of the shell, so that the signal reaches it. Its part is in SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT.
exec {{runLine}}
TASK
)
# With several clusters its name follows the number.
array=${array%%;*}

status=0
LOCKSTEP_ARRAY=$array sbatch --wait --dependency=afterany:"$array" --export=ALL "$@" <<'REPORT' || status=$?
#!/bin/bash
#SBATCH --job-name={{name}}-report
#SBATCH --ntasks=1
#SBATCH --output={{out}}/slurm-%j.out
#SBATCH --time=30

{{reportLine}}
REPORT

# 1 is a divergence, 3 trouble of the lab, which says nothing of the lock.
echo "{{name}}: array $array ended with status $status; the report is {{out}}/junit.xml" >&2
exit "$status"
