/** Deviations of agents from the protocol, by the name that the agent reports. Pure. */
import type { InitializeResponse, ToolCallUpdate } from "@agentclientprotocol/sdk"

type Initialized = Pick<InitializeResponse, "agentInfo">

/** Measured with 0.61.0. */
const isGemini = ({ agentInfo }: Initialized): boolean => agentInfo?.name === "gemini-cli"

/** It answers that a session is loaded before it has told its conversation. What it answers next, it answers after that. */
export const tellsLate: (initialized: Initialized) => boolean = isGemini

/**
 * When it can load a session; undefined: at once. Within the minute, by the clock, in which Gemini made a session, its load
 * erases it: https://github.com/google-gemini/gemini-cli/issues/28693.
 */
export const loadableFromMs = (initialized: Initialized, createdAtMs: number | undefined): number | undefined =>
  isGemini(initialized) && createdAtMs !== undefined ? (Math.floor(createdAtMs / 60_000) + 1) * 60_000 : undefined

/** Whether a session in which it works is soon told once more. Gemini has it again then. */
export const retellsSoon = (initialized: Initialized): boolean => !isGemini(initialized)

/**
 * Whether its refusal to tell a session once more, in which it works, means that it has kept nothing of it. Gemini forgets a
 * prompt whose turn failed.
 */
export const refusalMeansNothing: (initialized: Initialized) => boolean = isGemini

/** What a request for a permission is about. Gemini names a command in its title only, and there as it is. */
export const inFull = (initialized: Initialized, call: ToolCallUpdate): ToolCallUpdate =>
  isGemini(initialized) && call.kind === "execute" && call.rawInput === undefined && call.title
    ? { ...call, rawInput: { command: call.title } }
    : call
