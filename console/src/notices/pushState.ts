/** Whether the gate tells this browser of questions while no page is open. Pure. */

export type PushState =
  /** This browser cannot, or only once the console is installed. */
  | "unsupported"
  /** This console tells no browser. */
  | "unavailable"
  | "denied"
  | "on"
  | "off"

interface Known {
  readonly isSupported: boolean
  readonly permission: NotificationPermission
  /** With which a browser subscribes here; undefined: this console tells no browser. */
  readonly publicKey: string | undefined
  /** The key with which the browser has subscribed; undefined: it has not. */
  readonly subscribedWith: string | undefined
}

export const stateOf = ({ isSupported, permission, publicKey, subscribedWith }: Known): PushState => {
  if (!isSupported) return "unsupported"
  if (publicKey === undefined) return "unavailable"
  if (permission === "denied") return "denied"
  return permission === "granted" && subscribedWith === publicKey ? "on" : "off"
}
