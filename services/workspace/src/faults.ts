/** How the workspace's adapters fail. */
import { Schema } from "effect"

/** A path of a plan, an agent or a message that leads out of the workspace, or into git's own directory. */
export class OutsideWorkspace extends Schema.TaggedError<OutsideWorkspace>()("OutsideWorkspace", {
  path: Schema.String
}) {
  override get message() {
    return `'${this.path.slice(0, 200)}' does not lie in the workspace. Use a path inside it, without links that lead out.`
  }
}

/** What lies at a path is no file that can be read or replaced as one: a directory, a pipe, something huge. */
export class NotAFile extends Schema.TaggedError<NotAFile>()("NotAFile", {
  path: Schema.String,
  /** The end of a sentence: `is a directory`. */
  what: Schema.String
}) {
  override get message() {
    return `${this.path} ${this.what}. Move it away.`
  }
}

/** What was asked for cannot be done, however often it is tried. */
export class Impossible extends Schema.TaggedError<Impossible>()("Impossible", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

/** A file or a process of the host, or the broker, broke. It may work the next time. */
export class HostFault extends Schema.TaggedError<HostFault>()("HostFault", {
  operation: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const reason = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `${this.operation} failed: ${reason}`
  }
}

/** git did not do what it was asked. */
export class GitFault extends Schema.TaggedError<GitFault>()("GitFault", {
  /** The subcommand. */
  operation: Schema.String,
  exitCode: Schema.NullOr(Schema.Finite),
  stderr: Schema.String
}) {
  override get message() {
    const said = this.stderr.trim().slice(0, 2_000)
    return `git ${this.operation} failed (${this.exitCode ?? "no exit code"}): ${said === "" ? "git said nothing" : said}`
  }
  /** A bare repository, or git's own directory. */
  get withoutWorkTree() {
    return /must be run in a work tree/i.test(this.stderr)
  }
  /** Another git process holds a lock, or is just writing what was read: it is worth trying again. */
  get transient() {
    return /\.lock['": ]|cannot lock ref|another git process|failed to read \S*worktrees\//i.test(this.stderr)
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
