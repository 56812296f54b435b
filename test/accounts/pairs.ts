/** What each identity may and may not do with what belongs to each other one, itself included. */
import type { Identity } from "@reprise/nats"
import type { ServiceName } from "@reprise/protocol"
import {
  type Attempt,
  administration,
  answersOf,
  commandTo,
  forbidden,
  forgedAnswer,
  listening,
  readsOf,
  removalsOf,
  services,
  writesOf
} from "./attempts.ts"

/** Who sends commands to whom, as docs/design/architecture.md draws it. */
const commands: Readonly<Record<Identity, ReadonlyArray<ServiceName>>> = {
  orchestrator: ["orchestrator", "session-manager", "reviewer", "gate", "workspace"],
  "session-manager": ["session-manager", "orchestrator"],
  reviewer: ["reviewer", "session-manager"],
  gate: ["gate", "orchestrator"],
  workspace: ["workspace"],
  person: ["orchestrator", "session-manager", "gate"],
  operator: services
}

const isService = (identity: Identity): identity is ServiceName => services.some((one) => one === identity)

interface Pair {
  /** What `self` tries with what belongs to `other`. */
  readonly refused: ReadonlyArray<Attempt>
  readonly allowed: ReadonlyArray<Attempt>
}

const withService = (self: Identity, other: ServiceName): Pair => {
  const command = commandTo(other)
  const mayCommand = commands[self].includes(other)
  const own = [...writesOf(other), ...readsOf(other)]
  const isOwn = self === other || self === "operator"
  return {
    allowed: [
      ...(mayCommand ? [command] : []),
      ...(isOwn ? own : []),
      ...(self === other ? [...answersOf(other), ...listening(other)] : []),
      ...(self === "operator" ? removalsOf(other) : [])
    ],
    refused: [
      ...(mayCommand ? [] : [command]),
      ...(isOwn ? [] : own),
      ...(self === other ? [] : [...answersOf(other), ...listening(other), forgedAnswer(other)]),
      ...(self === "operator" || self === other ? [] : removalsOf(other))
    ]
  }
}

const withClient = (self: Identity, other: Identity): Pair =>
  self === other
    ? { allowed: listening(other), refused: [] }
    : { allowed: [], refused: [...listening(other), forgedAnswer(other)] }

export const pairOf = (self: Identity, other: Identity): Pair =>
  isService(other) ? withService(self, other) : withClient(self, other)

/** What is refused to an identity, whoever it belongs to. */
export const forbiddenFor = (self: Identity): ReadonlyArray<Attempt> => [
  ...forbidden,
  ...(self === "operator" ? [] : administration)
]

export const titlesOf = (attempts: ReadonlyArray<Attempt>) => attempts.map(({ what }) => what)
