#!/usr/bin/env node
// The launcher: runs Reprise on a Node that can, whichever Node started it. Plain JavaScript on purpose: an old Node reads it.
import { spawn } from "node:child_process"
import { createRequire, enableCompileCache } from "node:module"

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
const runsTypeScript = major > 24 || (major === 24 && minor >= 0)

if (runsTypeScript) {
  enableCompileCache?.()
  await import("../src/main.ts")
} else {
  const pinned = findPinnedNode()
  if (pinned === undefined) {
    process.stderr.write(
      `reprise: Node ${process.versions.node} is too old and the pinned Node 24 is not installed.\n` +
        "Run 'npm ci' in the folder of Reprise, or install Node 24 or newer.\n"
    )
    process.exit(3)
  }
  const child = spawn(pinned, [new URL(import.meta.url).pathname, ...process.argv.slice(2)], { stdio: "inherit" })
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    // A terminal sends the signal to the child as well; one that is sent to us alone is passed on.
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
    return createRequire(import.meta.url).resolve("node/bin/node")
  } catch {
    return undefined
  }
}
