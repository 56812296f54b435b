/**
 * Shows notices of questions: those that a page hears of, and those that the gate sends while no page is open. Telephones
 * show notices of a service worker alone. It keeps nothing and answers no request of a page, so it holds no data but what
 * its notice says.
 */
import {
  changesBy,
  lastWords,
  type Notice,
  noticeAfter,
  type Pushed,
  type Shown,
  type ToNotices
} from "../notices/Notice.ts"

declare const self: ServiceWorkerGlobalScope

const tag = "questions"

const windows = () => self.clients.matchAll({ type: "window", includeUncontrolled: true })

const shownNow = async (): Promise<Notification | undefined> =>
  (await self.registration.getNotifications({ tag })).at(-1)

/** `renotify` is in no standard type yet. */
interface Options extends NotificationOptions {
  readonly renotify: boolean
}

const show = (notice: Notice): Promise<void> => {
  const options: Options = {
    tag,
    body: notice.body,
    icon: "/icon-192.png",
    data: notice.shown,
    renotify: notice.calls,
    silent: !notice.calls
  }
  return self.registration.showNotification(notice.title, options)
}

/** A question that was answered: a page that lags behind must not bring it back. */
const closed = new Set<string>()

const take = async (message: ToNotices): Promise<void> => {
  if (message.type === "closed") closed.add(message.id)
  if (message.type === "raised" && closed.has(message.question.id)) return
  const before = await shownNow()
  const isLookedAt = (await windows()).some(({ focused }) => focused)
  const shown: Shown | undefined = before?.data
  const notice = noticeAfter(shown, message, Date.now(), isLookedAt)
  if (notice === "unchanged") return
  if (notice === undefined) return before?.close()
  await show(notice)
}

/** Where nobody sees a page, browsers take it amiss if a message shows nothing. */
const takePushed = async (pushed: Pushed): Promise<void> => {
  for (const message of changesBy(pushed)) await take(message)
  const isSeen = (await windows()).some(({ visibilityState }) => visibilityState === "visible")
  const isShown = (await shownNow()) !== undefined
  if (pushed.kind === "test" || (!isSeen && !isShown)) await show(lastWords(pushed, Date.now()))
}

/** One after the other: each begins with what the one before has shown. */
let last: Promise<void> = Promise.resolve()
const inTurn = (event: ExtendableEvent, does: () => Promise<void>): void => {
  last = last.catch(() => undefined).then(does)
  event.waitUntil(last)
}

/** Leads to the question in a tab that is there, else in a new one. */
const lead = async (path: string): Promise<void> => {
  const all = (await windows()).filter(({ url }) => new URL(url).pathname !== "/answer")
  const tab = all.find(({ visibilityState }) => visibilityState === "visible") ?? all[0]
  if (tab === undefined) return void (await self.clients.openWindow(path))
  tab.postMessage({ type: "lead", path })
  await tab.focus()
}

self.addEventListener("install", () => void self.skipWaiting())
self.addEventListener("message", (event) => inTurn(event, () => take(event.data)))
self.addEventListener("push", (event) => {
  const pushed: Pushed | undefined = event.data?.json()
  if (pushed !== undefined) inTurn(event, () => takePushed(pushed))
})
self.addEventListener("notificationclick", (event) => {
  event.notification.close()
  event.waitUntil(lead(event.notification.data.path))
})
