#include "CFiles.h"

// `#embed` is of C23. The compiler notes each file among what this one depends on, so that a change of one is compiled.
#pragma clang diagnostic ignored "-Wc23-extensions"

const char *lockstep_file_pythonDevice(void) {
  static const char text[] = {
#embed "python/lockstep_device.py" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_pytestPlugin(void) {
  static const char text[] = {
#embed "python/lockstep_pytest.py" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_cDevice(void) {
  static const char text[] = {
#embed "c/lockstep_device.h" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_commonNightly(void) {
  static const char text[] = {
#embed "templates/common/nightly.yaml" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_commonWorkflow(void) {
  static const char text[] = {
#embed "templates/common/workflow.yml" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_driverReadme(void) {
  static const char text[] = {
#embed "templates/driver/README.md" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_driverMachine(void) {
  static const char text[] = {
#embed "templates/driver/NAME.yaml" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_driverProgram(void) {
  static const char text[] = {
#embed "templates/driver/driver.py" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_driverLock(void) {
  static const char text[] = {
#embed "templates/driver/lock.py" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_driverBench(void) {
  static const char text[] = {
#embed "templates/driver/bench.yaml" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_driverRealLock(void) {
  static const char text[] = {
#embed "templates/driver/real.lock.yaml" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_driverChangesCode(void) {
  static const char text[] = {
#embed "templates/driver/scenarios/changes-code.yaml" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_driverLostLink(void) {
  static const char text[] = {
#embed "templates/driver/scenarios/lost-link.yaml" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_driverOpens(void) {
  static const char text[] = {
#embed "templates/driver/scenarios/opens.yaml" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_driverShutsOut(void) {
  static const char text[] = {
#embed "templates/driver/scenarios/shuts-out.yaml" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_execReadme(void) {
  static const char text[] = {
#embed "templates/exec/README.md" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_execMachine(void) {
  static const char text[] = {
#embed "templates/exec/NAME.yaml" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_execProgram(void) {
  static const char text[] = {
#embed "templates/exec/device.py" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_execBench(void) {
  static const char text[] = {
#embed "templates/exec/bench.yaml" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_execChangesCode(void) {
  static const char text[] = {
#embed "templates/exec/scenarios/changes-code.yaml" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_execOpens(void) {
  static const char text[] = {
#embed "templates/exec/scenarios/opens.yaml" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_execShutsOut(void) {
  static const char text[] = {
#embed "templates/exec/scenarios/shuts-out.yaml" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_bashCompletions(void) {
  static const char text[] = {
#embed "completions/lockstep.bash" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_zshCompletions(void) {
  static const char text[] = {
#embed "completions/lockstep.zsh" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_fishCompletions(void) {
  static const char text[] = {
#embed "completions/lockstep.fish" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_pageStyle(void) {
  static const char text[] = {
#embed "html/page.css" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_pageScript(void) {
  static const char text[] = {
#embed "html/page.js" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_junitSchema(void) {
  static const char text[] = {
#embed "junit/junit.xsd" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_recipeSystemd(void) {
  static const char text[] = {
#embed "recipes/systemd.sh" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_recipeNightService(void) {
  static const char text[] = {
#embed "recipes/night.service" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_recipeRunService(void) {
  static const char text[] = {
#embed "recipes/run.service" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_recipeSlurm(void) {
  static const char text[] = {
#embed "recipes/slurm.sh" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_recipeKubernetes(void) {
  static const char text[] = {
#embed "recipes/kubernetes.yaml" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_recipeJenkins(void) {
  static const char text[] = {
#embed "recipes/Jenkinsfile" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_recipeGitLab(void) {
  static const char text[] = {
#embed "recipes/gitlab.yml" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_recipeGitLabBuild(void) {
  static const char text[] = {
#embed "recipes/gitlab-build.yml" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_recipeGitLabReport(void) {
  static const char text[] = {
#embed "recipes/gitlab-report.yml" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_recipeGitLabOutcome(void) {
  static const char text[] = {
#embed "recipes/gitlab-outcome.yml" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_recipeGitHub(void) {
  static const char text[] = {
#embed "recipes/github.yml" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_recipeGitHubReport(void) {
  static const char text[] = {
#embed "recipes/github-report.yml" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_labgridCoordinator(void) {
  static const char text[] = {
#embed "labgrid/coordinator.py" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_benchKeypad(void) {
  static const char text[] = {
#embed "benchmarks/keypad.py" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_benchKeypadInC(void) {
  static const char text[] = {
#embed "benchmarks/keypad.c" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_benchKeypadMachine(void) {
  static const char text[] = {
#embed "benchmarks/keypad.yaml" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_benchDriver(void) {
  static const char text[] = {
#embed "benchmarks/driver.py" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_benchLock(void) {
  static const char text[] = {
#embed "benchmarks/lock.py" suffix(, 0)
  };
  return text;
}

const char *lockstep_file_benchCipher(void) {
  static const char text[] = {
#embed "benchmarks/cipher.py" suffix(, 0)
  };
  return text;
}
