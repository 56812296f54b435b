#!/usr/bin/env node
// The launcher: runs Reprise on a Node that can, whichever Node started it. Plain JavaScript on purpose: an old Node reads it.
import { spawn } from "node:child_process"
import module from "node:module"

const newEnough = Number.parseInt(process.versions.node, 10) >= 24

if (newEnough) {
  module.enableCompileCache()
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
    return module.createRequire(import.meta.url).resolve("node/bin/node")
  } catch {
    return undefined
  }
}
