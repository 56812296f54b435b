/**
 * `to.gate(escalationId).AnswerEscalation({ choice, by, via })`: a command with its address. What a service does not
 * take, a field that it does not know and an id of another kind do not compile.
 */
import type { Key } from "../ids.ts"
import type { ServiceName } from "../services.ts"
import { contracts, type IdOf } from "./contracts.ts"

interface Tagged {
  readonly _tag: string
}

/** A command and whose it is. `Messenger.send` and `ask` take it, and so does `send` of an actor's `react`. */
export interface Addressed<Service extends ServiceName = ServiceName, Command extends Tagged = Tagged> {
  readonly service: Service
  readonly key: Key
  readonly command: Command
}

/** A command without what its address says already. */
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
 * Commands to one kind of actor by the actor's id, which is filled in where a command has a field for it. For the
 * contracts use `to`; a service also makes one for what its own workers and timers tell its actor.
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

export const to = {
  orchestrator: addressing<IdOf<"orchestrator">>()(contracts.orchestrator),
  sessionManager: addressing<IdOf<"session-manager">>()(contracts["session-manager"]),
  reviewer: addressing<IdOf<"reviewer">>()(contracts.reviewer),
  gate: addressing<IdOf<"gate">>()(contracts.gate),
  workspace: addressing<IdOf<"workspace">>()(contracts.workspace)
} as const
