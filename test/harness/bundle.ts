/**
 * The bundle of the `reprise` command, which makes a start three times cheaper. It is made from the launcher and its
 * sources, and resolves files beside them as the sources do.
 *
 * This file is a global setup of the e2e project.
 */
import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import type { TestProject } from "vitest/node"
import { bundleProgram } from "./bundleProgram.ts"
import { launcher } from "./Command.ts"

export interface Bundle {
  readonly launcher: string
  /** Where Node keeps what it compiled. The bundle has a path of its own, so nobody else could use it. */
  readonly compileCache: string
}

declare module "vitest" {
  interface ProvidedContext {
    readonly bundle: Bundle
  }
}

const write = async (directory: string): Promise<Bundle> => ({
  launcher: await bundleProgram(launcher, directory),
  compileCache: join(directory, "compiled")
})

const newFolder = () => realpathSync(mkdtempSync(join(tmpdir(), "reprise-bundle-")))
const remove = (directory: string) => rmSync(directory, { recursive: true, force: true, maxRetries: 5 })

/** Makes the bundle before the first test; returns what removes it after the last. */
export default async ({ provide }: TestProject): Promise<() => void> => {
  const directory = newFolder()
  provide("bundle", await write(directory))
  return () => remove(directory)
}

/** A bundle for a program that is not run by vitest. It is removed when the scope closes. */
export const makeBundle = Effect.acquireRelease(Effect.sync(newFolder), (directory) =>
  Effect.sync(() => remove(directory))
).pipe(Effect.flatMap((directory) => Effect.promise(() => write(directory))))

/** The bundle of the tests; undefined outside of vitest. */
export const bundle = Effect.promise(async () =>
  process.env["VITEST"] === undefined ? undefined : (await import("vitest")).inject("bundle")
)
