/** Why OpenCode cannot be used. Each message says what to do next. */
import { Schema } from "effect"

export class OpenCodeNotFound extends Schema.TaggedError<OpenCodeNotFound>()("OpenCodeNotFound", {
  /** Where the program was searched, in words. */
  looked: Schema.String
}) {
  override get message() {
    return `OpenCode is not installed (${this.looked}). Run 'npm i -g opencode-ai', or name the program in REPRISE_OPENCODE.`
  }
}

export class OpenCodeDidNotStart extends Schema.TaggedError<OpenCodeDidNotStart>()("OpenCodeDidNotStart", {
  reason: Schema.String,
  /** Of a server that ended; above 128 when a signal ended it. */
  exitCode: Schema.optionalKey(Schema.Int),
  logFile: Schema.String,
  /** The last lines of its output in this start. */
  lastLines: Schema.Array(Schema.String)
}) {
  override get message() {
    const said = this.lastLines.length === 0 ? "It printed nothing." : `It printed:\n${this.lastLines.join("\n")}`
    return `OpenCode did not start (${this.reason}). Look at ${this.logFile}, or run 'reprise doctor'. ${said}`
  }
}

/** Another live process runs the OpenCode of this state directory. */
export class OpenCodeInUse extends Schema.TaggedError<OpenCodeInUse>()("OpenCodeInUse", {
  stateDirectory: Schema.String,
  ownerPid: Schema.Int
}) {
  override get message() {
    return `Process ${this.ownerPid} runs the OpenCode of ${this.stateDirectory}. Stop it, or use another state directory.`
  }
}

/** It ended too often, in its start or soon after. It is started again by the next call. */
export class OpenCodeGaveUp extends Schema.TaggedError<OpenCodeGaveUp>()("OpenCodeGaveUp", {
  /** Text: how often, and within what time. */
  ends: Schema.String,
  /** Of the last time. */
  reason: Schema.String,
  logFile: Schema.String
}) {
  override get message() {
    return `OpenCode ${this.ends} (the last time: ${this.reason}), and is not started again by itself. Its sessions are kept. Look at ${this.logFile}, or run 'reprise doctor'; to go on is to start it again.`
  }
}

/** The repository has settings for OpenCode that nobody has trusted. */
export class OpenCodeNotPermitted extends Schema.TaggedError<OpenCodeNotPermitted>()("OpenCodeNotPermitted", {
  detail: Schema.String
}) {
  override get message() {
    return this.detail
  }
}

/** The environment's settings for OpenCode would let commands out of the sandbox. */
export class OpenCodeUnguarded extends Schema.TaggedError<OpenCodeUnguarded>()("OpenCodeUnguarded", {
  problem: Schema.String,
  /** The next step. */
  next: Schema.String
}) {
  override get message() {
    return `OpenCode is not started: ${this.problem} ${this.next}`
  }
}

/** The state directory cannot be used, or the guard cannot be started. */
export class OpenCodeStateFault extends Schema.TaggedError<OpenCodeStateFault>()("OpenCodeStateFault", {
  operation: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const why = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `OpenCode cannot be run: ${this.operation} failed (${why}). Check the permissions and the free space of the state directory.`
  }
}

export type OpenCodeUnavailable =
  | OpenCodeNotFound
  | OpenCodeDidNotStart
  | OpenCodeInUse
  | OpenCodeGaveUp
  | OpenCodeNotPermitted
  | OpenCodeUnguarded
  | OpenCodeStateFault
