/**
 * One OpenCode server for all worlds that do not need their own: a start costs more than most of the turns that follow.
 * Each world gives it a configuration, with its own scripted model, for its own repository.
 *
 * This file is the global setup of the e2e project.
 */
import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { OpenCodeServer } from "@reprise/agent"
import { openCodeFolders } from "@reprise/scripted-model"
import { Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import type { TestProject } from "vitest/node"

export interface SharedOpenCode {
  readonly url: string
  readonly username: string
  readonly password: string
}

declare module "vitest" {
  interface ProvidedContext {
    readonly sharedOpenCode: SharedOpenCode
  }
}

const folder = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "reprise-shared-opencode-")))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 }))
)

const start = Effect.gen(function* () {
  const home = yield* folder
  const environment = { PATH: process.env["PATH"], HOME: home, ...openCodeFolders(home) }
  const server = yield* Layer.build(OpenCodeServer.layer({ stateDirectory: join(home, "state"), environment }))
  const { password, url, username } = yield* Context.get(server, OpenCodeServer).connection
  return { url, username, password: Redacted.value(password) } satisfies SharedOpenCode
})

/** Starts the server before the first test; returns what stops it after the last. */
export default async ({ provide }: TestProject): Promise<() => Promise<void>> => {
  const scope = Scope.makeUnsafe()
  provide("sharedOpenCode", await Effect.runPromise(Scope.provide(start, scope)))
  return () => Effect.runPromise(Scope.close(scope, Exit.void))
}

/** The address of the shared server. For tests only: vitest cannot be imported into another program. */
export const sharedOpenCode = Effect.promise(async () => (await import("vitest")).inject("sharedOpenCode"))

/** Makes the server forget a repository that is about to be removed. */
export const forgetRepository = (
  { password, url, username }: SharedOpenCode,
  directory: string
): Effect.Effect<void> => {
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`
  const path = `/instance/dispose?directory=${encodeURIComponent(directory)}`
  return Effect.promise(() => fetch(`${url}${path}`, { method: "POST", headers: { authorization } })).pipe(
    Effect.asVoid
  )
}
