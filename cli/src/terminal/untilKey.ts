/** A single key while lines scroll by and nothing is asked. */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { Effect } from "effect"

/** The group of this process, and the one that has the terminal. */
const processGroups = (): ReadonlyArray<string | undefined> => {
  if (process.platform === "linux") {
    const stat = readFileSync("/proc/self/stat", "utf8")
    // After the program's name, which may contain anything: state, parent, group, session, terminal, its group.
    const [, , own, , , foreground] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return [own, foreground]
  }
  const shown = execFileSync("ps", ["-o", "pgid=,tpgid=", "-p", `${process.pid}`], { encoding: "utf8" })
  return shown.trim().split(/\s+/)
}

/** A job in the background is stopped when it reads the terminal or changes its mode. */
const isForeground = (): boolean => {
  try {
    const [own, foreground] = processGroups()
    return own === foreground
  } catch {
    return false
  }
}

/** What a terminal makes signals of, unless its keys are read one by one. */
const signals: Readonly<Record<string, NodeJS.Signals>> = { "\x03": "SIGINT", "\x1a": "SIGTSTP", "\x1c": "SIGQUIT" }

/**
 * Calls `onKey` for each key, until the returned function is called. What arrives in longer pieces was pasted, or is not
 * a letter. Keys that are signals stay signals, for the whole job.
 */
const readKeys = (onKey: (key: string) => void): (() => void) => {
  const { stdin } = process
  let isReading = false
  const pause = (): void => {
    if (!isReading) return
    isReading = false
    stdin.off("data", onData).pause()
    stdin.setRawMode(false)
  }
  const read = (): void => {
    if (isReading || !isForeground()) return
    isReading = true
    stdin.setRawMode(true)
    stdin.on("data", onData).resume()
  }
  const onData = (bytes: Buffer): void => {
    const text = bytes.toString("utf8")
    for (const char of text) {
      const signal = signals[char]
      if (signal === "SIGTSTP") pause()
      if (signal !== undefined) process.kill(0, signal)
    }
    if ([...text].length === 1) onKey(text)
  }
  process.on("SIGCONT", read)
  read()
  return () => {
    process.off("SIGCONT", read)
    pause()
  }
}

/** Waits until this key is pressed. The terminal is read one key at a time until then; what else is typed is dropped. */
export const untilKey = (key: string): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const stop = readKeys((pressed) => {
      if (pressed !== key) return
      stop()
      resume(Effect.void)
    })
    return Effect.sync(stop)
  })
