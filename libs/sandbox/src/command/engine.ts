/** What separates commands from a machine, by its system. Pure. */

/** `seatbelt` was never tried on a Mac: it is used only where the sandbox is required. */
export type Engine = "bubblewrap" | "seatbelt"

export type Choice =
  | { readonly _tag: "chosen"; readonly engine: Engine }
  /** `reason`: a sentence for people, with what to do. */
  | { readonly _tag: "none"; readonly reason: string }

const untried =
  'On macOS the sandbox is Seatbelt, with which Reprise was never tried. To use it nevertheless, set sandbox.mode to "required"; commands then reach no name.'

/** `platform`: as Node names it. Nobody is to lose questions to a sandbox that nobody has seen working. */
export const chooseEngine = (platform: string, isRequired: boolean): Choice => {
  switch (platform) {
    case "linux":
      return { _tag: "chosen", engine: "bubblewrap" }
    case "darwin":
      return isRequired ? { _tag: "chosen", engine: "seatbelt" } : { _tag: "none", reason: untried }
    default:
      return { _tag: "none", reason: "On this system there is no sandbox; it needs Linux with bubblewrap." }
  }
}

const outlived =
  "Processes of a command that is killed may go on: bubblewrap cannot be started inside of itself here, and programs may debug others of their user. Allow bubblewrap nested user namespaces, or set kernel.yama.ptrace_scope to 1."

const laterMounts =
  "What is mounted while a command runs, such as a disk or an encrypted folder, the command can read and write: 'unshare' of util-linux is missing or old, or may not make namespaces. Install it, or allow it user namespaces."

const ofSeatbelt = [
  "Seatbelt was never tried with Reprise on a Mac.",
  "Commands reach no name, whatever sandbox.network says, and nobody is asked about one.",
  "Programs that look for .git without git see no commit of a command before its turn has ended, and commands add no files to git-annex.",
  "Processes that a command leaves behind go on, and the machine's processes can be seen, but not signalled.",
  "The machine's temporary folder can be read; what a command may not write is not counted."
]

const startedWith = (names: ReadonlyArray<string>) =>
  `Reprise itself was started with code of the repository, where agents write, or of whatever folder it is started in: ${names.join(", ")} ${names.length === 1 ? "leads" : "lead"} there, and Node has loaded it outside of the sandbox. Take that out where your shell sets it (an empty entry, as a colon at the end leaves it, is the current folder), and start Reprise again.`

/**
 * `canBeOutlived`: whether a command can take over the process with which all of its own end. `seesLaterMounts`:
 * whether it sees what the machine mounts after it began. `loadedFromTree`: names of variables by
 * which this process has loaded code that agents can write.
 */
export interface EngineHere {
  readonly engine: Engine
  readonly canBeOutlived?: boolean
  readonly seesLaterMounts?: boolean
  readonly loadedFromTree?: ReadonlyArray<string>
}

/** What does not hold here that the sandbox promises on Linux; empty: nothing is missing. Lines for people. */
export const shortcomings = ({
  canBeOutlived = false,
  engine,
  loadedFromTree = [],
  seesLaterMounts = false
}: EngineHere): ReadonlyArray<string> => [
  ...(loadedFromTree.length === 0 ? [] : [startedWith(loadedFromTree)]),
  ...(engine === "seatbelt" ? ofSeatbelt : []),
  ...(canBeOutlived ? [outlived] : []),
  ...(seesLaterMounts ? [laterMounts] : [])
]
