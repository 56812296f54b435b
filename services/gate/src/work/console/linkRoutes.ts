/**
 * Answers by a link (docs/notifications.md#answers-by-a-link). Whoever has the link needs no session. To look at it
 * answers nothing: programs of chats and mailboxes open every link that they see.
 */
import { Messenger } from "@reprise/actor"
import {
  ConsoleLink,
  ConsoleLinkAnswer,
  ConsoleLinkRequest,
  defined,
  EscalationId,
  type EscalationView,
  to
} from "@reprise/protocol"
import { Clock, Effect, type Redacted, Schema } from "effect"
import { linkView } from "../../console/linkView.ts"
import { type AnswerLink, answererIn, isExpired, readAnswerLink } from "../../notify/answerLink.ts"
import { isSame, signWith } from "../signing.ts"
import { askOptions } from "./commandRoutes.ts"
import type { Route } from "./Route.ts"
import { bodyOf, data, failure, outcomeOf } from "./replies.ts"
import { Visiting } from "./Visiting.ts"

const notALink = failure(403, {
  code: "bad-link",
  message: "This link answers nothing.",
  hint: "It is not complete, or another Reprise made it. Open it again from its message, or open the question itself."
})
const expired = failure(410, {
  code: "expired-link",
  message: "This link has expired, so nothing was answered.",
  hint: "A newer message about the question has a new link; or open the question itself."
})

const via = "link"

const encodeLink = Schema.encodeSync(ConsoleLink)
const decodeId = Schema.decodeUnknownEffect(EscalationId)

const questionOf = ({ escalationId }: AnswerLink) =>
  Effect.flatMap(decodeId(escalationId), (id) => Messenger.use(({ show }) => show.gate(id)))

const give = Effect.fnUntraced(function* (
  { channel, choice }: AnswerLink,
  { escalationId, runId }: EscalationView,
  { commandId, commit }: ConsoleLinkAnswer
) {
  const { ask } = yield* Messenger
  const command = to.gate(escalationId).AnswerEscalation({
    choice,
    ...defined({ commit }),
    by: (yield* Visiting)?.user ?? answererIn(channel),
    via
  })
  return yield* outcomeOf(ask(command, yield* askOptions(commandId, runId, via)))
})

/** `key`: with which the links were signed; absent: none are made here, so every link is refused. */
export const linkRoutes = (key: Redacted.Redacted | undefined) => {
  const read = (text: string) => (key === undefined ? undefined : readAnswerLink(text, signWith(key), isSame))

  const look = Effect.gen(function* () {
    const link = read((yield* bodyOf(ConsoleLinkRequest)).link)
    if (link === undefined) return notALink
    const question = yield* questionOf(link)
    return data(encodeLink(linkView(link, question, yield* Clock.currentTimeMillis)))
  })

  const answer = Effect.gen(function* () {
    const wanted = yield* bodyOf(ConsoleLinkAnswer)
    const link = read(wanted.link)
    if (link === undefined) return notALink
    if (isExpired(link, yield* Clock.currentTimeMillis)) return expired
    return yield* give(link, yield* questionOf(link), wanted)
  })

  return [
    { method: "POST", path: "/api/link", access: "own proof", reply: look },
    { method: "POST", path: "/api/link/answer", access: "own proof", reply: answer }
  ] satisfies ReadonlyArray<Route<unknown>>
}
