// CommonJS looks for a module that is missing in the folders of NODE_PATH and below the home folder, where agents may write: an agent
// that is not installed, or a module that a package wants only if it is there, would be theirs. Node reads both variables again.
import module from "node:module"

const { HOME, NODE_PATH } = process.env
delete process.env.NODE_PATH
delete process.env.HOME
module._initPaths()
if (NODE_PATH !== undefined) process.env.NODE_PATH = NODE_PATH
if (HOME !== undefined) process.env.HOME = HOME
