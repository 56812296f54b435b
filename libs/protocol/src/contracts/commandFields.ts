/** The fields that commands to agents share. */
import { Effect, Schema } from "effect"
import { anyHost, Host } from "../ids.ts"
import { PermissionMode } from "../model.ts"

export const host = Host.pipe(Schema.withDecodingDefaultKey(Effect.succeed(anyHost)))
/** Absolute path of the working tree on the host; empty: where the host's agent server works. */
export const directory = Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("")))
export const permissions = PermissionMode.pipe(Schema.withDecodingDefaultKey(Effect.succeed("ask" as const)))
