#pragma once

/// A file that stands in the command as it stands in this folder.
///
/// Another one has a line here and one in CFiles.c.
enum __attribute__((enum_extensibility(closed))) EmbeddedFile {
  // What `lockstep bindings` prints.
  EmbeddedFilePythonDevice,
  EmbeddedFilePytestPlugin,
  EmbeddedFileCDevice,

  // What `lockstep new` writes, for each kind of lock.
  EmbeddedFileCommonNightly,
  EmbeddedFileCommonWorkflow,
  EmbeddedFileDriverReadme,
  EmbeddedFileDriverMachine,
  EmbeddedFileDriverProgram,
  EmbeddedFileDriverLock,
  EmbeddedFileDriverBench,
  EmbeddedFileDriverRealLock,
  EmbeddedFileDriverLostLink,
  EmbeddedFileDriverOpens,
  EmbeddedFileDriverShutsOut,
  EmbeddedFileExecReadme,
  EmbeddedFileExecMachine,
  EmbeddedFileExecProgram,
  EmbeddedFileExecBench,
  EmbeddedFileExecBattery,
  EmbeddedFileExecOpens,
  EmbeddedFileExecShutsOut,

  // What shells read.
  EmbeddedFileBashCompletions,
  EmbeddedFileZshCompletions,
  EmbeddedFileFishCompletions,

  // The page of a run, and the schema of its JUnit report.
  EmbeddedFilePageStyle,
  EmbeddedFilePageScript,
  EmbeddedFileJunitSchema,

  // The recipes of `lockstep schedule`, with {{names}} in place of what differs.
  EmbeddedFileRecipeSystemd,
  EmbeddedFileRecipeNightService,
  EmbeddedFileRecipeRunService,
  EmbeddedFileRecipeSlurm,
  EmbeddedFileRecipeKubernetes,
  EmbeddedFileRecipeJenkins,
  EmbeddedFileRecipeGitLab,
  EmbeddedFileRecipeGitLabBuild,
  EmbeddedFileRecipeGitLabReport,
  EmbeddedFileRecipeGitLabOutcome,
  EmbeddedFileRecipeGitHub,
  EmbeddedFileRecipeGitHubReport,

  // What talks to labgrid's coordinator through its own library.
  EmbeddedFileLabgridCoordinator,

  // The programs that figures are measured with.
  EmbeddedFileBenchKeypad,
  EmbeddedFileBenchKeypadInC,
  EmbeddedFileBenchKeypadMachine,
  EmbeddedFileBenchDriver,
  EmbeddedFileBenchLock,
  EmbeddedFileBenchCipher,
};

/// The text of a file, with a NUL behind it.
const char *_Nonnull lockstep_embedded_text(enum EmbeddedFile file);
