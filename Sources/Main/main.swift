import CommandLine
import lockstep

// The command. All that it does is in the library, which the workbench of the tests has too.
CommandSet.lockstep.perform()
