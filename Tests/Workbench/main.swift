import CommandLine
import System
import lockstep

// What tests and measurements need and the command has not: see CommandSet.workbench. Any other words are for the command
// itself, so that its processes can be started from here too.
let workbench = CommandSet.workbench
let name = Invocation.words.first ?? "--help"
(name.hasPrefix("-") || workbench.has(name) ? workbench : .lockstep).perform()
