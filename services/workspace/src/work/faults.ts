/** How work on a host fails. */
import {
  ForeignFileRefused,
  faultOf,
  hasCode,
  objectNotFetched,
  type ProgramFailed,
  saysNoWorkTree
} from "@reprise/process"
import { Schema } from "effect"

/** A path of a plan, an agent or a message that leads out of the workspace, or into git's own directory. */
export class OutsideWorkspace extends Schema.TaggedError<OutsideWorkspace>()("OutsideWorkspace", {
  path: Schema.String
}) {
  override get message() {
    return `'${this.path.slice(0, 200)}' is not inside the workspace. Use a path inside it, without links that lead out.`
  }
}

/** What is at a path cannot be read or replaced as a file: a directory, a pipe, or a file that is too large. */
export class NotAFile extends Schema.TaggedError<NotAFile>()("NotAFile", {
  path: Schema.String,
  /** The predicate of a sentence: `is a directory`. */
  what: Schema.String,
  /** What to do about it, as a sentence. */
  next: Schema.optionalKey(Schema.String)
}) {
  override get message() {
    return `${this.path} ${this.what}. ${this.next ?? "Move it out of the way."}`
  }
}

/** Undefined: the file was not refused, or another try may read it. `path`: as it is told; default: the whole path. */
export const asNotAFile = (cause: unknown, path?: string): NotAFile | undefined =>
  cause instanceof ForeignFileRefused && hasCode(cause, "ENOTAFILE", "EFBIG", "ELOOP", "EACCES", "EPERM")
    ? new NotAFile({ path: path ?? cause.path, what: cause.what })
    : undefined

/** The request cannot succeed, however often it is tried. */
export class Impossible extends Schema.TaggedError<Impossible>()("Impossible", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

/** A file, a process or the broker failed. Trying again may succeed. */
export class HostFault extends Schema.TaggedError<HostFault>()("HostFault", {
  operation: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const reason = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `${this.operation} failed: ${reason}`
  }
}

/**
 * git was ended, or ended itself, at what an agent wrote: it took too long, wanted too much memory, wrote too much, or crashed. Every
 * try would end so; whoever wrote it can fix it.
 */
export class UnreadableTree extends Schema.TaggedError<UnreadableTree>()("UnreadableTree", {
  /** The subcommand. */
  operation: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return (
      `git ${this.operation} cannot read the working tree or its commits: ${this.reason.replace(/\.$/, "")}. ` +
      "Remove what is too large, too many, too deep or too slow to match, from the commits too, and commit again."
    )
  }
}

/** That git did not get to its end. */
export type NoAnswer = HostFault | NotAFile | UnreadableTree

/** Whose it is that git gave no answer, and so whether it is asked again (docs/design/workspace.md#what-an-agent-wrote). Pure. */
export const noAnswer =
  (operation: string) =>
  (failure: ProgramFailed): NoAnswer => {
    const { cause, details, reason } = failure
    const refused = asNotAFile(cause)
    if (refused !== undefined) return refused
    return faultOf(reason) === "tree"
      ? new UnreadableTree({ operation, reason: details })
      : new HostFault({ operation: `git ${operation}`, cause })
  }

/** `unable to …: Permission denied`. */
const lacksPermission = (line: string): boolean => {
  const at = line.search(/unable to /i)
  return at !== -1 && /: permission/i.test(line.slice(at))
}

/** git failed. */
export class GitFault extends Schema.TaggedError<GitFault>()("GitFault", {
  /** The subcommand. */
  operation: Schema.String,
  exitCode: Schema.Finite,
  stderr: Schema.String
}) {
  override get message() {
    const next =
      this.isBroken && objectNotFetched(this.stderr) === undefined
        ? ". Repair git's own files, so that 'git status' and 'git fsck' work there."
        : ""
    return `git ${this.operation} failed (${this.exitCode}): ${this.said}${next}`
  }
  get said() {
    const output = this.stderr.trim().slice(0, 2_000)
    return output === "" ? "git printed nothing" : output
  }
  /** Whether git's own files are not as git writes them, or are gone: whoever changed them may know how to fix them. */
  get isBroken() {
    return (
      !this.transient &&
      (/not a git repository|invalid gitfile format|bad config line|index file|bad signature|packed-refs|bad object|loose object|unable to read|promisor remote|object file|insufficient permission/i.test(
        this.stderr
      ) ||
        this.stderr.split("\n").some(lacksPermission))
    )
  }
  /** Whether git was run in a bare repository, or in git's own directory. */
  get withoutWorkTree() {
    return saysNoWorkTree(this.stderr)
  }
  /** Whether the server of a remote was not there, or busy, so that it is worth trying again. */
  get unreachable() {
    return /could not resolve host|failed to connect|couldn't connect|temporary failure in name resolution|connection (timed out|refused|reset|closed)|network is unreachable|operation (timed out|too slow)|early EOF|unexpected disconnect|hung up unexpectedly|requested URL returned error: (429|5\d\d)/i.test(
      this.stderr
    )
  }
  /** Whether another git process held a lock or was writing what was read, so that it is worth trying again. */
  get transient() {
    return (
      this.unreachable ||
      /\.lock['": ]|cannot lock ref|another git process|(failed to read|bad object) \S*worktrees\//i.test(this.stderr)
    )
  }
}

/** A git that is at work holds a lock. Trying again may succeed. */
export class LockHeld extends Schema.TaggedError<LockHeld>()("LockHeld", {
  path: Schema.String,
  /** Its number and command line, where the machine shows it. */
  holder: Schema.optionalKey(Schema.String)
}) {
  override get message() {
    const whose = this.holder === undefined ? "and this machine does not show by whom" : `maybe by ${this.holder}`
    return `git's lock ${this.path} is held, ${whose}. Let that git finish, or end it; if none is at work there, remove the file.`
  }
}

/** The working tree belongs to another run. */
export class InUse extends Schema.TaggedError<InUse>()("InUse", {
  directory: Schema.String,
  runId: Schema.String,
  host: Schema.String,
  renewedAt: Schema.String
}) {
  override get message() {
    return (
      `${this.directory} is in use by run ${this.runId} on host ${this.host} (seen ${this.renewedAt}). ` +
      `Let it finish (or answer what it asks), end it with 'reprise abort ${this.runId}', or use --worktree.`
    )
  }
}

/**
 * Whether what somebody wrote into the working tree, its commits or git's folder is why there is no answer, so that its author can
 * mend it (docs/design/workspace.md#what-an-agent-wrote). Pure.
 */
export const isOfTree = <Fault extends { readonly _tag: string }>(
  fault: Fault | GitFault | NotAFile | UnreadableTree
): fault is GitFault | NotAFile | UnreadableTree =>
  fault instanceof NotAFile || fault instanceof UnreadableTree || (fault instanceof GitFault && fault.isBroken)
