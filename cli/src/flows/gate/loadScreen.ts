/** Loads the full-screen gate. That takes a quarter of a second, so it waits until there is such a screen. */
import { createRequire } from "node:module"
import { Effect } from "effect"

/**
 * React reads once whether it is to check its caller, which takes time and memory. Others must not see the answer: an
 * agent's `npm ci` would leave out what its work needs. The bundles know it already.
 */
const loadReact = (): void => {
  const { env } = process
  const before = env["NODE_ENV"]
  const load = createRequire(import.meta.resolve("ink"))
  env["NODE_ENV"] = "production"
  try {
    load("react")
    load("react-reconciler")
  } finally {
    if (before === undefined) delete env["NODE_ENV"]
    else env["NODE_ENV"] = before
  }
}

export const loadScreen = Effect.promise(() => {
  if (process.env.NODE_ENV !== "production") loadReact()
  return import("./answerOnScreen.ts")
})
