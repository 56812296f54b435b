/**
 * The login of an agent that asks for one over the protocol: by a method that it offers and for which the person has given the
 * credentials as the agent's own documentation says. Never asks for a password. Pure.
 */
import type { InitializeResponse } from "@agentclientprotocol/sdk"

type Environment = Readonly<Record<string, string | undefined>>

/** Methods by the agents' own ids, and the variables that they read. */
const methods: Readonly<Record<string, ReadonlyArray<string>>> = {
  "gemini-api-key": ["GEMINI_API_KEY"]
}

const isSet = (value: string | undefined): boolean => value !== undefined && value !== ""

/** The id of the method to log in by; undefined: the person has to log in with the agent itself. */
export const loginMethod = (
  { authMethods = [] }: Pick<InitializeResponse, "authMethods">,
  environment: Environment
): string | undefined =>
  authMethods.map(({ id }) => id).find((id) => methods[id]?.every((name) => isSet(environment[name])) === true)
