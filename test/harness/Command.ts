/** A `reprise` process under test: its output, its end, and the means to end it. */
import { type ChildProcess, spawn } from "node:child_process"
import { Effect } from "effect"

/** The launcher that users start. It loads the sources. */
export const launcher = new URL("../../cli/bin/reprise.js", import.meta.url).pathname

/**
 * `none`: no standard input. `terminal`: a pseudo-terminal, made by `script` of util-linux. `screen`, or a size: the same
 * with a size, for programs that draw on it.
 */
export type Input = "none" | "terminal" | "screen" | { readonly columns: number; readonly rows: number }

const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`

export interface Ended {
  /** The exit code; 128 + n when signal n ended the process, as in shells. */
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const signals: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }

export class Command {
  stdout = ""
  stderr = ""
  readonly #child: ChildProcess
  readonly #watchers = new Set<() => void>()
  readonly #ended: Promise<Ended>
  /** Whether it has ended and all that it wrote is read. */
  #isOver = false

  /** @param program the script to start: the launcher, or a bundle of it */
  constructor(
    program: string,
    directory: string,
    environment: NodeJS.ProcessEnv,
    args: ReadonlyArray<string>,
    input: Input = "none"
  ) {
    const words = [process.execPath, program, ...args]
    const drawn = input === "screen" ? { columns: 120, rows: 40 } : input
    const size =
      typeof drawn === "string"
        ? ""
        : `stty cols ${drawn.columns} rows ${drawn.rows}; export TERM=xterm-256color; exec `
    const typed = `${size}${words.map(quote).join(" ")}`
    const [executable, rest] =
      input === "none"
        ? [process.execPath, words.slice(1)]
        : ["script", ["--quiet", "--flush", "--return", "--command", typed, "/dev/null"]]
    this.#child = spawn(executable, rest, {
      cwd: directory,
      env: environment,
      stdio: [input === "none" ? "ignore" : "pipe", "pipe", "pipe"]
    })
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.stdout += text
      this.#notify()
    })
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text
      this.#notify()
    })
    this.#ended = new Promise((resolve, reject) => {
      this.#child.on("error", reject)
      this.#child.on("close", (code, signal) => {
        this.#isOver = true
        resolve({ code: code ?? 128 + (signals[signal ?? ""] ?? 0), stdout: this.stdout, stderr: this.stderr })
        this.#notify()
      })
    })
  }

  get pid(): number {
    return this.#child.pid ?? -1
  }

  #notify(): void {
    for (const watcher of this.#watchers) watcher()
  }

  /** Completes when the process has ended. */
  readonly ended: Effect.Effect<Ended> = Effect.promise(() => this.#ended)

  /** Types at the terminal; `\x03` is Ctrl-C. */
  type(text: string): void {
    this.#child.stdin?.write(text)
  }

  /** Closes the reading end of standard output, as `head` does after its last line. */
  stopReading(): void {
    this.#child.stdout?.destroy()
  }

  /** Waits until the output (of both streams) matches; fails if the process ends first. */
  waitFor(pattern: RegExp): Effect.Effect<RegExpExecArray, Error> {
    return Effect.callback((resume) => {
      const look = () => {
        const match = pattern.exec(`${this.stdout}\n${this.stderr}`)
        if (match !== null) resume(Effect.succeed(match))
        else if (this.#isOver) {
          resume(
            Effect.fail(
              new Error(`ended (${this.#child.exitCode}) without ${pattern}:\n${this.stdout}\n${this.stderr}`)
            )
          )
        }
      }
      this.#watchers.add(look)
      look()
      return Effect.sync(() => this.#watchers.delete(look))
    })
  }

  /** Sends a signal to this process only, and waits until it has ended. */
  kill(signal: NodeJS.Signals): Effect.Effect<Ended> {
    return Effect.suspend(() => {
      this.#child.kill(signal)
      return this.ended
    })
  }
}
