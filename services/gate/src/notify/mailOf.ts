/** What a channel is told → the e-mail that tells it (docs/notifications.md#e-mail). Pure. */
import type { OfferedAnswer } from "./answerLink.ts"
import { headlineOf, inOneText, messageTextOf } from "./messageText.ts"
import { deliveryIdOf, linkOf, type Notice, type Notices } from "./Notice.ts"

/** Who sends the e-mails of a channel, and who gets them. */
export interface Addresses {
  /** Of the channel. */
  readonly name: string
  readonly from: string
  readonly to: ReadonlyArray<string>
}

/** An e-mail of plain text. Its subject is one line. */
export interface Mail extends Omit<Addresses, "name"> {
  readonly subject: string
  readonly text: string
  /** The same at every attempt, and in no other message; undefined: any new one. */
  readonly messageId?: string
  /** The id of the message about the question that this one belongs to. */
  readonly inReplyTo?: string
}

const longestText = 10_000

/** Mail of many projects comes to one mailbox, so the id has the time of the question as well. */
const messageIdOf = ({ from, name }: Addresses, notice: Notice): string => {
  const time = notice._tag === "Test" ? "" : `.${notice.question.raisedAt.replace(/\D/g, "")}`
  return `<${deliveryIdOf(name, notice)}${time}@${from.slice(from.indexOf("@") + 1)}>`
}

/** Mail programs show a message below another by its subject and by the id that it names. */
const placeInThread = (addresses: Addresses, notices: Notices): Omit<Mail, "from" | "to" | "text"> => {
  const [first] = notices
  // What is about several questions belongs to none, and may be put together otherwise when it is sent again.
  if (notices.length > 1) return { subject: messageTextOf(notices).title }
  const messageId = messageIdOf(addresses, first)
  if (first._tag === "Test") return { subject: messageTextOf(notices).title, messageId }
  const headline = headlineOf(first)
  return first._tag === "Raised"
    ? { subject: headline, messageId }
    : {
        subject: `Re: ${headline}`,
        messageId,
        inReplyTo: messageIdOf(addresses, { _tag: "Raised", question: first.question })
      }
}

/** The origin is that of the web console. */
export const mailOf = (
  addresses: Addresses,
  notices: Notices,
  origin?: string,
  answers: ReadonlyArray<OfferedAnswer> = []
): Mail => ({
  from: addresses.from,
  to: addresses.to,
  ...placeInThread(addresses, notices),
  text: inOneText(messageTextOf(notices), linkOf(notices, origin), longestText, answers)
})
