#pragma once

// The files that stand in the command as they stand in this folder, each as a text with a NUL behind it. A file has a line here, a
// function in CFiles.c, and a line in Sources/Files.
//
// There is a function of each, and no table: what was compiled before another file came in goes on calling its own.

// What `lockstep bindings` prints.
const char *_Nonnull lockstep_file_pythonDevice(void);
const char *_Nonnull lockstep_file_pytestPlugin(void);
const char *_Nonnull lockstep_file_cDevice(void);

// What `lockstep new` writes, for each kind of lock.
const char *_Nonnull lockstep_file_commonNightly(void);
const char *_Nonnull lockstep_file_commonWorkflow(void);
const char *_Nonnull lockstep_file_driverReadme(void);
const char *_Nonnull lockstep_file_driverMachine(void);
const char *_Nonnull lockstep_file_driverProgram(void);
const char *_Nonnull lockstep_file_driverLock(void);
const char *_Nonnull lockstep_file_driverBench(void);
const char *_Nonnull lockstep_file_driverRealLock(void);
const char *_Nonnull lockstep_file_driverChangesCode(void);
const char *_Nonnull lockstep_file_driverLostLink(void);
const char *_Nonnull lockstep_file_driverOpens(void);
const char *_Nonnull lockstep_file_driverShutsOut(void);
const char *_Nonnull lockstep_file_execReadme(void);
const char *_Nonnull lockstep_file_execMachine(void);
const char *_Nonnull lockstep_file_execProgram(void);
const char *_Nonnull lockstep_file_execBench(void);
const char *_Nonnull lockstep_file_execChangesCode(void);
const char *_Nonnull lockstep_file_execOpens(void);
const char *_Nonnull lockstep_file_execShutsOut(void);

// What shells read.
const char *_Nonnull lockstep_file_bashCompletions(void);
const char *_Nonnull lockstep_file_zshCompletions(void);
const char *_Nonnull lockstep_file_fishCompletions(void);

// The page of a run, and the schema of its JUnit report.
const char *_Nonnull lockstep_file_pageStyle(void);
const char *_Nonnull lockstep_file_pageScript(void);
const char *_Nonnull lockstep_file_junitSchema(void);

// The recipes of `lockstep schedule`, with {{names}} in place of what differs.
const char *_Nonnull lockstep_file_recipeSystemd(void);
const char *_Nonnull lockstep_file_recipeNightService(void);
const char *_Nonnull lockstep_file_recipeRunService(void);
const char *_Nonnull lockstep_file_recipeSlurm(void);
const char *_Nonnull lockstep_file_recipeKubernetes(void);
const char *_Nonnull lockstep_file_recipeJenkins(void);
const char *_Nonnull lockstep_file_recipeGitLab(void);
const char *_Nonnull lockstep_file_recipeGitLabBuild(void);
const char *_Nonnull lockstep_file_recipeGitLabReport(void);
const char *_Nonnull lockstep_file_recipeGitLabOutcome(void);
const char *_Nonnull lockstep_file_recipeGitHub(void);
const char *_Nonnull lockstep_file_recipeGitHubReport(void);

// What talks to labgrid's coordinator through its own library.
const char *_Nonnull lockstep_file_labgridCoordinator(void);

// The programs that figures are measured with.
const char *_Nonnull lockstep_file_benchKeypad(void);
const char *_Nonnull lockstep_file_benchKeypadInC(void);
const char *_Nonnull lockstep_file_benchKeypadMachine(void);
const char *_Nonnull lockstep_file_benchDriver(void);
const char *_Nonnull lockstep_file_benchLock(void);
const char *_Nonnull lockstep_file_benchCipher(void);
