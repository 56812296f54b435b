/** Tells a channel: by a request, an e-mail, a notice on the desktop, or the push service of a browser. */
import type { Effect } from "effect"
import type { Outcome } from "../../notify/attempts.ts"
import type { Notices } from "../../notify/Notice.ts"
import type { Channel, SendOptions } from "./Channel.ts"
import { show } from "./desktop.ts"
import { mail } from "./mail.ts"
import { post } from "./post.ts"
import { push } from "./push.ts"

/** One message about all of the notices. Never fails. */
export const send = (channel: Channel, notices: Notices, options?: SendOptions): Effect.Effect<Outcome> => {
  switch (channel.preset) {
    case "email":
      return mail(channel, notices, options)
    case "desktop":
      return show(channel, notices, options)
    case "web-push":
      return push(channel, notices, options)
    default:
      return post(channel, notices, options)
  }
}
