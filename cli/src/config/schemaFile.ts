/** The JSON schema of `reprise.toml` where editors find it: a copy of the published one, of the version that runs. */
import { readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { prepareDirectory } from "@reprise/nats"
import { Effect, Result } from "effect"
import type { Project } from "../project/Project.ts"
import { missing } from "../terminal/CliFailure.ts"
import { configSchemaText, schemaPath } from "./jsonSchema.ts"

/**
 * Writes it unless it is there as it should be: a clone of the repository has none yet, another version another one.
 * Gives its path.
 */
export const ensureSchemaFile = Effect.fnUntraced(function* (project: Project) {
  const path = join(project.root, schemaPath)
  const text = configSchemaText()
  if (Result.getOrUndefined(Result.try(() => readFileSync(path, "utf8"))) === text) return path
  yield* prepareDirectory(project.directory).pipe(
    Effect.mapError((error) => missing("state", error.message, "Check the folder's permissions.", error))
  )
  writeFileSync(`${path}.${process.pid}`, text)
  renameSync(`${path}.${process.pid}`, path)
  return path
})
