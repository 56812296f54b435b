/**
 * What Reprise needs from the operating system: programs that never outlive their owner, programs that run to their
 * end, their logs and ports, git, and files that are replaced in one step.
 */
export { childEnvironment, commandEnvironment, commandsOfTree } from "./childEnvironment.ts"
export { type CommittedFile, commitFile, type FileToCommit } from "./commitFile.ts"
export { committedOtherwise } from "./committedOtherwise.ts"
export { committedTexts } from "./committedTexts.ts"
export { addedUnlisted, type Comparison, type Difference } from "./committedTree.ts"
export { commonDirectoryOf } from "./commonDirectory.ts"
export { type ChangedFile, changedFiles, FileStates, readFileStates } from "./fileStates.ts"
export { hasCode, type ReplaceOptions, replaceFile } from "./files.ts"
export {
  ForeignFileRefused,
  type ForeignLimits,
  kindOf,
  readForeignEnd,
  readForeignFile,
  readForeignFolder,
  readForeignPart,
  readForeignText,
  rewriteForeignFile
} from "./foreignFile.ts"
export { forgedIndexIn } from "./forgedIndex.ts"
export { freezeBelow, thawBelow } from "./freeze.ts"
export {
  hardenedSettings,
  hardenedVariables,
  optionsWithValue,
  reachingSettings,
  reachingVariables
} from "./gitHardening.ts"
export { type GitLock, putAsideLocks } from "./gitLocks.ts"
export { isAlive, startOf } from "./identity.ts"
export { closeUnknownFiles } from "./inheritedFiles.ts"
export { endLeftovers, type Mark, markedProcesses, variableOf } from "./Mark.ts"
export { differencesFromCommit } from "./nestedTrees.ts"
export { GitEnded } from "./ownIndex.ts"
export { isUnclear } from "./pathBytes.ts"
export { freePort, isPortTaken, type OwnServer, ownServer, watchPort } from "./ports.ts"
export { createPrivateFile, readPrivateFile } from "./privateFiles.ts"
export { faultOf } from "./programEnd.ts"
export { hasPrinted, lastLines, logSize } from "./programLog.ts"
export {
  leaveTree,
  loadedFromTree,
  type OfTree,
  ofTree,
  pathFrom,
  splitPath,
  treePathVariable,
  withoutPlaces
} from "./programPath.ts"
export { useProgramStarter } from "./programStarter.ts"
export { rememberWhile } from "./rememberWhile.ts"
export { remoteProblem, withoutLogin } from "./remoteUrl.ts"
export { removeForeign } from "./removeForeign.ts"
export { GitLimits, type GitOptions, objectNotFetched, runGit, saysNoWorkTree, untilBlocked } from "./runGit.ts"
export {
  findProgram,
  isProgram,
  ProgramFailed,
  type ProgramOutput,
  type ProgramRequest,
  runProgram
} from "./runProgram.ts"
export { shadowedAttributes, textByContent } from "./shadowedAttributes.ts"
export { type GuardedProcess, GuardFailed, type GuardOptions, startGuarded } from "./startGuarded.ts"
export { type PipedOptions, type PipedProcess, startPiped } from "./startPiped.ts"
export { steadyPath, steadyPathOrAbove, UnsteadyPath } from "./steadyPath.ts"
export { unfinishedWork } from "./unfinishedWork.ts"
export type { Unlisted } from "./unlistedEntries.ts"
export {
  instructionNames,
  recordUntrackedInstructions,
  treeFolder,
  untrackedInstructions
} from "./untrackedInstructions.ts"
export { userCacheFolder, userConfigFolder, userDataFolder } from "./userFolders.ts"
export {
  type Change,
  fileNamesOfPhase,
  isOwnFile,
  isOwnName,
  localSettings,
  mayContainOwnFiles,
  phasesFolder,
  readStatus,
  stateFolder,
  undoRuntimeChanges,
  withoutRuntimeChanges,
  workingTreeChanges
} from "./workingTree.ts"
