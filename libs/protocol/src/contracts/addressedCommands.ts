/** Commands with their addresses, made by functions that the contracts type. */
import type { Key, ServiceName } from "../ids.ts"
import { contracts, type IdOf } from "./contracts.ts"

interface Tagged {
  readonly _tag: string
}

/** A command and the actor that it is for. `Messenger.send` and `ask` take it, and so does `send` of an actor's `react`. */
export interface Addressed<Service extends ServiceName = ServiceName, Command extends Tagged = Tagged> {
  readonly service: Service
  readonly key: Key
  readonly command: Command
}

/** A command's fields without the actor's id, which its address gives. */
type BodyOf<Command, KeyField> = Omit<Command, "_tag" | Extract<KeyField, string>>

type Arguments<Body> = Record<never, never> extends Body ? [body?: Body] : [body: Body]

/** One function for each command. */
export type Commands<Service extends ServiceName, Command extends Tagged, KeyField> = {
  readonly [Type in Command["_tag"]]: (
    ...body: Arguments<BodyOf<Extract<Command, { readonly _tag: Type }>, KeyField>>
  ) => Addressed<Service, Extract<Command, { readonly _tag: Type }>>
}

interface Takes<Service extends ServiceName, Command extends Tagged, KeyField extends string | undefined> {
  readonly service: Service
  readonly keyField: KeyField
  readonly commands: {
    readonly Type: Command
    readonly cases: Readonly<Record<string, { readonly fields: object }>>
  }
}

/**
 * Makes the functions for commands to one kind of actor. The actor's id is filled in where a command has a field for
 * it. For the contracts use `to`; this is for the commands that a service's own workers and timers send to its actor.
 *
 * @example
 * const report = addressing<RunId>()({ service: "workspace", keyField: "runId", commands: Report })
 * messenger.send(report(runId).Done({ event }))
 */
export const addressing =
  <Id extends Key>() =>
  <Service extends ServiceName, Command extends Tagged, KeyField extends string | undefined>({
    commands,
    keyField,
    service
  }: Takes<Service, Command, KeyField>) => {
    const types = Object.entries(commands.cases).map(
      ([type, { fields }]) => [type, keyField !== undefined && keyField in fields] as const
    )
    return (id: Id): Commands<Service, Command, KeyField> => {
      const filled = keyField === undefined ? {} : { [keyField]: id }
      const made = types.map(([type, holdsKey]) => [
        type,
        (body: object = {}) => ({
          service,
          key: id,
          command: { _tag: type, ...body, ...(holdsKey ? filled : {}) }
        })
      ])
      // The entries are the commands' own types, which `Object.fromEntries` does not know.
      return Object.fromEntries(made) as Commands<Service, Command, KeyField>
    }
  }

/**
 * A command to an actor of any service. A command that the service does not take, a field that the command does not
 * have, and an id of another kind do not compile. The field that holds the actor's id is filled in: leave it out.
 *
 * @example
 * messenger.send(to.gate(escalationId).AnswerEscalation({ choice: "continue", by: "root", via: "cli" }))
 */
export const to = {
  orchestrator: addressing<IdOf<"orchestrator">>()(contracts.orchestrator),
  sessionManager: addressing<IdOf<"session-manager">>()(contracts["session-manager"]),
  reviewer: addressing<IdOf<"reviewer">>()(contracts.reviewer),
  gate: addressing<IdOf<"gate">>()(contracts.gate),
  workspace: addressing<IdOf<"workspace">>()(contracts.workspace)
} as const
