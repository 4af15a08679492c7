#!/bin/bash
# A cluster of one node on the loopback, for the time of one command; nothing else on the machine is touched.
# usage: cluster.sh COMMAND [WORD...]           needs root, and slurmctld slurmd slurm-client munge
# It ends with the status of the command. SLURM_CONF is set for it, and sbatch is on its path.
set -eu
state=$(mktemp -d)
host=$(hostname -s)
mkdir "$state/ctld" "$state/spool"
# Several of them may run at a time, and what others listen at by chance begins at 32768.
port=$((20000 + $$ % 6000 * 2))
(
  umask 077
  head -c 128 /dev/urandom > "$state/munge.key"
)
cat > "$state/slurm.conf" << CONF
ClusterName=lockstep
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$state/munge.socket
SlurmctldPort=$port
SlurmdPort=$((port + 1))
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation=$state/ctld
SlurmdSpoolDir=$state/spool
SlurmctldPidFile=$state/ctld.pid
SlurmdPidFile=$state/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0
MinJobAge=60
ReturnToService=2
MailProg=/bin/true
Licenses=front-door:1
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=24:00:00 State=UP
CONF
export SLURM_CONF=$state/slurm.conf

started=()
finish() {
  # The last that was started is the first to go.
  for ((i = ${#started[@]} - 1; i >= 0; i--)); do
    kill "${started[i]}" 2> /dev/null || true
    # One that was started with signals blocked hears nothing but this.
    for _ in $(seq 50); do
      kill -0 "${started[i]}" 2> /dev/null || break
      sleep 0.1
    done
    kill -KILL "${started[i]}" 2> /dev/null || true
    wait "${started[i]}" 2> /dev/null || true
  done
  rm -rf "$state"
}
trap finish EXIT
trap 'exit 143' TERM INT

munged --foreground --force --key-file="$state/munge.key" --socket="$state/munge.socket" \
  --pid-file="$state/munged.pid" --log-file="$state/munged.log" --seed-file="$state/munged.seed" > /dev/null 2>&1 &
started+=($!)
for _ in $(seq 50); do
  [ ! -S "$state/munge.socket" ] || break
  sleep 0.1
done
slurmctld -D -f "$SLURM_CONF" > "$state/ctld.log" 2>&1 &
started+=($!)
slurmd -D -f "$SLURM_CONF" -N "$host" > "$state/slurmd.log" 2>&1 &
started+=($!)
for _ in $(seq 100); do
  [ "$(sinfo --noheader --format=%t 2> /dev/null)" != idle ] || break
  sleep 0.1
done
if [ "$(sinfo --noheader --format=%t 2> /dev/null)" != idle ]; then
  tail -n 5 "$state/ctld.log" "$state/slurmd.log" >&2
  exit 70
fi
"$@"
