#include "CFiles.h"

// `#embed` is of C23. The compiler notes each file among what this one depends on, so that a change of one is compiled.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const char *const texts[] = {
  [EmbeddedFilePythonDevice] = (const char[]){
#embed "python/lockstep_device.py" suffix(, 0)
  },
  [EmbeddedFilePytestPlugin] = (const char[]){
#embed "python/lockstep_pytest.py" suffix(, 0)
  },
  [EmbeddedFileCDevice] = (const char[]){
#embed "c/lockstep_device.h" suffix(, 0)
  },
  [EmbeddedFileCommonNightly] = (const char[]){
#embed "templates/common/nightly.yaml" suffix(, 0)
  },
  [EmbeddedFileCommonWorkflow] = (const char[]){
#embed "templates/common/workflow.yml" suffix(, 0)
  },
  [EmbeddedFileDriverReadme] = (const char[]){
#embed "templates/driver/README.md" suffix(, 0)
  },
  [EmbeddedFileDriverMachine] = (const char[]){
#embed "templates/driver/NAME.yaml" suffix(, 0)
  },
  [EmbeddedFileDriverProgram] = (const char[]){
#embed "templates/driver/driver.py" suffix(, 0)
  },
  [EmbeddedFileDriverLock] = (const char[]){
#embed "templates/driver/lock.py" suffix(, 0)
  },
  [EmbeddedFileDriverBench] = (const char[]){
#embed "templates/driver/bench.yaml" suffix(, 0)
  },
  [EmbeddedFileDriverRealLock] = (const char[]){
#embed "templates/driver/real.lock.yaml" suffix(, 0)
  },
  [EmbeddedFileDriverLostLink] = (const char[]){
#embed "templates/driver/scenarios/lost-link.yaml" suffix(, 0)
  },
  [EmbeddedFileDriverOpens] = (const char[]){
#embed "templates/driver/scenarios/opens.yaml" suffix(, 0)
  },
  [EmbeddedFileDriverShutsOut] = (const char[]){
#embed "templates/driver/scenarios/shuts-out.yaml" suffix(, 0)
  },
  [EmbeddedFileExecReadme] = (const char[]){
#embed "templates/exec/README.md" suffix(, 0)
  },
  [EmbeddedFileExecMachine] = (const char[]){
#embed "templates/exec/NAME.yaml" suffix(, 0)
  },
  [EmbeddedFileExecProgram] = (const char[]){
#embed "templates/exec/device.py" suffix(, 0)
  },
  [EmbeddedFileExecBench] = (const char[]){
#embed "templates/exec/bench.yaml" suffix(, 0)
  },
  [EmbeddedFileExecBattery] = (const char[]){
#embed "templates/exec/scenarios/battery.yaml" suffix(, 0)
  },
  [EmbeddedFileExecOpens] = (const char[]){
#embed "templates/exec/scenarios/opens.yaml" suffix(, 0)
  },
  [EmbeddedFileExecShutsOut] = (const char[]){
#embed "templates/exec/scenarios/shuts-out.yaml" suffix(, 0)
  },
  [EmbeddedFileBashCompletions] = (const char[]){
#embed "completions/lockstep.bash" suffix(, 0)
  },
  [EmbeddedFileZshCompletions] = (const char[]){
#embed "completions/lockstep.zsh" suffix(, 0)
  },
  [EmbeddedFileFishCompletions] = (const char[]){
#embed "completions/lockstep.fish" suffix(, 0)
  },
  [EmbeddedFilePageStyle] = (const char[]){
#embed "html/page.css" suffix(, 0)
  },
  [EmbeddedFilePageScript] = (const char[]){
#embed "html/page.js" suffix(, 0)
  },
  [EmbeddedFileJunitSchema] = (const char[]){
#embed "junit/junit.xsd" suffix(, 0)
  },
  [EmbeddedFileRecipeSystemd] = (const char[]){
#embed "recipes/systemd.sh" suffix(, 0)
  },
  [EmbeddedFileRecipeNightService] = (const char[]){
#embed "recipes/night.service" suffix(, 0)
  },
  [EmbeddedFileRecipeRunService] = (const char[]){
#embed "recipes/run.service" suffix(, 0)
  },
  [EmbeddedFileRecipeSlurm] = (const char[]){
#embed "recipes/slurm.sh" suffix(, 0)
  },
  [EmbeddedFileRecipeKubernetes] = (const char[]){
#embed "recipes/kubernetes.yaml" suffix(, 0)
  },
  [EmbeddedFileRecipeJenkins] = (const char[]){
#embed "recipes/Jenkinsfile" suffix(, 0)
  },
  [EmbeddedFileRecipeGitLab] = (const char[]){
#embed "recipes/gitlab.yml" suffix(, 0)
  },
  [EmbeddedFileRecipeGitLabBuild] = (const char[]){
#embed "recipes/gitlab-build.yml" suffix(, 0)
  },
  [EmbeddedFileRecipeGitLabReport] = (const char[]){
#embed "recipes/gitlab-report.yml" suffix(, 0)
  },
  [EmbeddedFileRecipeGitLabOutcome] = (const char[]){
#embed "recipes/gitlab-outcome.yml" suffix(, 0)
  },
  [EmbeddedFileRecipeGitHub] = (const char[]){
#embed "recipes/github.yml" suffix(, 0)
  },
  [EmbeddedFileRecipeGitHubReport] = (const char[]){
#embed "recipes/github-report.yml" suffix(, 0)
  },
  [EmbeddedFileLabgridCoordinator] = (const char[]){
#embed "labgrid/coordinator.py" suffix(, 0)
  },
  [EmbeddedFileBenchKeypad] = (const char[]){
#embed "benchmarks/keypad.py" suffix(, 0)
  },
  [EmbeddedFileBenchKeypadInC] = (const char[]){
#embed "benchmarks/keypad.c" suffix(, 0)
  },
  [EmbeddedFileBenchKeypadMachine] = (const char[]){
#embed "benchmarks/keypad.yaml" suffix(, 0)
  },
  [EmbeddedFileBenchDriver] = (const char[]){
#embed "benchmarks/driver.py" suffix(, 0)
  },
  [EmbeddedFileBenchLock] = (const char[]){
#embed "benchmarks/lock.py" suffix(, 0)
  },
  [EmbeddedFileBenchCipher] = (const char[]){
#embed "benchmarks/cipher.py" suffix(, 0)
  },
};

const char *lockstep_embedded_text(enum EmbeddedFile file) { return texts[file]; }
