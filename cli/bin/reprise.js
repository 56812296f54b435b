#!/usr/bin/env node
// Starts Reprise on a Node that is new enough, whichever Node runs this file. Plain JavaScript, so that an old Node can read it.
import "./ownModules.js"
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import module from "node:module"
import { join } from "node:path"

const newEnough = Number.parseInt(process.versions.node, 10) >= 24

if (newEnough) {
  // Node's default lies in the folder for temporary files, where another user could have put it. Failing does no harm.
  const { HOME, XDG_CACHE_HOME } = process.env
  const cache = XDG_CACHE_HOME || (HOME && join(HOME, ".cache"))
  // Node tries for ever to create a folder in a home that cannot exist, such as one below /proc.
  if (HOME && existsSync(HOME)) module.enableCompileCache(join(cache, "reprise", "compiled"))
  const { showEarlyLine } = await import("../src/terminal/earlyLine.ts")
  showEarlyLine(process.argv.slice(2))
  await import("../src/main.ts")
} else {
  const pinned = findPinnedNode()
  if (pinned === undefined) {
    process.stderr.write(
      `reprise: Node ${process.versions.node} is too old. Install Node 24 or newer; in a clone of Reprise, run 'npm ci'.\n`
    )
    process.exit(3)
  }
  const child = spawn(pinned, process.argv.slice(1), { stdio: "inherit" })
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    // A terminal signals the child as well; without one, the signal is passed on.
    process.on(signal, () => process.stdin.isTTY || child.kill(signal))
  }
  child.on("error", (error) => {
    process.stderr.write(`reprise: ${pinned} does not start: ${error.message}\nRun 'npm ci' again.\n`)
    process.exit(3)
  })
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code ?? 1)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

/** The `node` package's own binary, which npm scripts use too. */
function findPinnedNode() {
  try {
    return module.createRequire(import.meta.url).resolve("node/bin/node")
  } catch {
    return undefined
  }
}
