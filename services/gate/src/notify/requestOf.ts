/** What a channel is told → the HTTP request that tells it (docs/notifications.md#what-is-sent). Pure. */
import { defined } from "@reprise/protocol"
import { isPublicName, ntfyTopic } from "./addresses.ts"
import type { OfferedAnswer } from "./answerLink.ts"
import type { HttpPreset } from "./ChannelSettings.ts"
import { inOneText, messageTextOf } from "./messageText.ts"
import { deliveryIdOf, isClosing, kindOf, linkOf, type Notice, type Notices, subjectKeyOf } from "./Notice.ts"
import { escapeMarkup, fitText, utf8Size } from "./plainText.ts"

/** A channel whose address and token are known. */
export interface Destination {
  readonly name: string
  readonly preset: HttpPreset
  readonly url: string
  /** Of an ntfy server, or a Telegram bot. */
  readonly token?: string
  /** Of Telegram. */
  readonly chat?: string
}

/** A POST request, not signed yet. */
export interface HttpRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const closing = (notice: Notice) => {
  switch (notice._tag) {
    case "Answered":
      return { closed: { by: notice.by, via: notice.via, choice: notice.choice } }
    case "Withdrawn":
      return { closed: { reason: notice.reason } }
    case "Reminder":
      return { reminder: notice.count }
    default:
      return {}
  }
}

type Answers = ReadonlyArray<OfferedAnswer>

const questionIn = (notice: Notice) => {
  if (notice._tag === "Test") return {}
  const { oneTap: _, ...question } = notice.question
  return { question }
}

const isoOf = (seconds: number): string => new Date(seconds * 1000).toISOString()

const webhookBody = (channel: string, notice: Notice, link: string | undefined, answers: Answers) => ({
  version: 1,
  kind: kindOf(notice),
  delivery: deliveryIdOf(channel, notice),
  subject: subjectKeyOf(channel, notice),
  channel,
  ...questionIn(notice),
  ...closing(notice),
  ...defined({ link }),
  ...(answers.length === 0
    ? {}
    : { answers: answers.map(({ choice, expiresAt, url }) => ({ choice, link: url, expiresAt: isoOf(expiresAt) })) })
})

/** A longer message becomes an attachment. */
const longestNtfyBytes = 4_000

/** It shows three buttons at most. */
const ntfyActions = (link: string, answers: Answers) => [
  { action: "view", label: "Open", url: link },
  ...answers.slice(0, 2).map(({ label, url }) => ({ action: "view", label, url }))
]

const ntfyBody = (topic: string, notices: Notices, link: string | undefined, answers: Answers) => {
  const { text, title } = messageTextOf(notices)
  const [first] = notices
  return {
    topic,
    title,
    message: fitText(text, longestNtfyBytes, utf8Size),
    tags: [isClosing(first) ? "white_check_mark" : "raising_hand"],
    priority: isClosing(first) ? 2 : 4,
    ...(link === undefined ? {} : { click: link, actions: ntfyActions(link, answers) })
  }
}

/** Slack refuses a longer section. */
const longestSlackText = 2_900
const sizeForSlack = (character: string): number => escapeMarkup(character).length

/** Whoever has more to choose from opens the question. */
const mostButtons = 6

/** Slack reads markup: unescaped, `<!channel>` would call everybody. */
const slackBody = (notices: Notices, link: string | undefined, answers: Answers) => {
  const { text, title } = messageTextOf(notices)
  const section = {
    type: "section",
    text: { type: "mrkdwn", text: escapeMarkup(fitText(text, longestSlackText, sizeForSlack)), verbatim: true }
  }
  const button = (label: string, url: string) => ({
    type: "button",
    text: { type: "plain_text", text: label, emoji: false },
    url
  })
  const buttons = (url: string) => [
    button("Open the question", url),
    ...answers.slice(0, mostButtons).map(({ label, url: taken }) => button(label, taken))
  ]
  return {
    // What a notification shows.
    text: escapeMarkup(title),
    unfurl_links: false,
    blocks: [
      { type: "header", text: { type: "plain_text", text: title, emoji: false } },
      section,
      ...(link === undefined ? [] : [{ type: "actions", elements: buttons(link) }])
    ]
  }
}

/** Telegram refuses a longer message. */
const longestTelegramText = 4_000

/** Telegram refuses a message with a button that leads to an address which only this machine or its network knows. */
const isPublic = (url: string): boolean => {
  const { hostname, protocol } = new URL(url)
  return protocol === "https:" && isPublicName(hostname)
}

/** Without a parse mode nothing is markup. */
const telegramBody = (chat: string | undefined, notices: Notices, link: string | undefined, answers: Answers) => {
  const shown = answers.slice(0, mostButtons)
  const areButtons = shown.every(({ url }) => isPublic(url))
  return {
    chat_id: chat,
    text: inOneText(messageTextOf(notices), link, longestTelegramText, areButtons ? [] : shown),
    link_preview_options: { is_disabled: true },
    ...(areButtons && shown.length > 0
      ? { reply_markup: { inline_keyboard: shown.map(({ label, url }) => [{ text: label, url }]) } }
      : {})
  }
}

/** An ntfy server takes JSON at its root; the topic is the end of the address. */
const ntfyAddress = (url: string): { readonly root: string; readonly topic: string } => {
  const address = new URL(url)
  const parts = address.pathname.split("/").filter((part) => part !== "")
  return { root: new URL(`/${parts.slice(0, -1).join("/")}`, address).href, topic: ntfyTopic(address) ?? "" }
}

/** The origin is that of the web console. */
export const requestOf = (
  { chat, name, preset, token = "", url }: Destination,
  notices: Notices,
  origin?: string,
  answers: Answers = []
): HttpRequest => {
  const [first] = notices
  const link = linkOf(notices, origin)
  const headers = {
    "content-type": "application/json",
    "user-agent": "reprise",
    // A message about several questions has no id: it may be put together otherwise when it is sent again.
    ...(notices.length === 1 ? { "reprise-delivery": deliveryIdOf(name, first) } : {})
  }
  switch (preset) {
    case "webhook":
      return { url, headers, body: JSON.stringify(webhookBody(name, first, link, answers)) }
    case "slack":
      return { url, headers, body: JSON.stringify(slackBody(notices, link, answers)) }
    case "telegram": {
      const method = `${url.replace(/(?<!\/)\/+$/, "")}/bot${token}/sendMessage`
      return { url: method, headers, body: JSON.stringify(telegramBody(chat, notices, link, answers)) }
    }
    case "ntfy": {
      const { root, topic } = ntfyAddress(url)
      const authorization = token === "" ? {} : { authorization: `Bearer ${token}` }
      return {
        url: root,
        headers: { ...headers, ...authorization },
        body: JSON.stringify(ntfyBody(topic, notices, link, answers))
      }
    }
  }
}
