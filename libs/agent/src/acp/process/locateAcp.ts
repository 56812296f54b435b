/** Finds the program of an agent's command. */
import { isAbsolute } from "node:path"
import { findProgram, isProgram } from "@reprise/process"
import { Effect } from "effect"
import { parseCommand } from "./command.ts"

/** Its path; undefined if there is none. Nothing is started. */
export const locateAcp = Effect.fn("locateAcp")(function* (
  command: string,
  environment: Readonly<Record<string, string | undefined>> = process.env
) {
  const { program } = parseCommand(command)
  if (isAbsolute(program)) return (yield* isProgram(program)) ? program : undefined
  return yield* findProgram(program, environment)
})
