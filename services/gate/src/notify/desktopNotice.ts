/** What a channel is told → the notice that this machine's desktop shows (docs/notifications.md#desktop). Pure. */

import { messageTextOf } from "./messageText.ts"
import { isClosing, linkOf, type Notices } from "./Notice.ts"
import { escapeMarkup, fitText } from "./plainText.ts"

export interface DesktopNotice {
  readonly title: string
  readonly text: string
  /** It may go by unseen: nothing waits for anybody. */
  readonly isMinor: boolean
}

const longestText = 800

/** The origin is that of the web console. */
export const desktopNotice = (notices: Notices, origin?: string): DesktopNotice => {
  const { text, title } = messageTextOf(notices)
  const link = linkOf(notices, origin)
  return {
    title,
    text: `${fitText(text, longestText, ({ length }) => length)}${link === undefined ? "" : `\n${link}`}`,
    isMinor: isClosing(notices[0])
  }
}

/** Of `notify-send`, which reads markup and sequences such as `\033` in the text, but not in the title. */
export const notifySendArguments = ({ isMinor, text, title }: DesktopNotice): ReadonlyArray<string> => [
  "--app-name=Reprise",
  `--urgency=${isMinor ? "low" : "normal"}`,
  "--",
  title,
  escapeMarkup(text).replaceAll("\\", "\\\\")
]

const script = ["on run notice", "display notification (item 2 of notice) with title (item 1 of notice)", "end run"]

/** Of `osascript`: the script is always the same. After the title, which begins with our word, nothing is an option. */
export const osascriptArguments = ({ text, title }: DesktopNotice): ReadonlyArray<string> => [
  ...script.flatMap((line) => ["-e", line]),
  title,
  text
]
