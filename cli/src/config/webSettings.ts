/** The rows of the settings table for the web console (docs/console.md). */
import { SecretSetting } from "@reprise/gate/notifications"
import { headerName, lines, listenAddress, port, setting, unquoted, unset, webOrigin } from "./settingRows.ts"

export const webSettings = {
  port: setting(port, 7417, "Port of the web console on 127.0.0.1; 0: any free one."),
  origin: unset(
    webOrigin,
    "https://reprise.example.org",
    "Public address of the web console, behind a proxy or tunnel; unset: this machine only."
  ),
  listen: setting(
    listenAddress,
    "127.0.0.1",
    "Address that the web console listens on. One that other machines reach needs web.origin and web.proxySecret, and takes only what comes through the proxy."
  ),
  userHeader: unset(
    headerName,
    "X-Forwarded-Email",
    "Header in which a proxy that signs people in names the user, who is recorded with each answer; unset: the token signs in."
  ),
  groupsHeader: unset(headerName, "X-Forwarded-Groups", "Header in which that proxy names the user's groups."),
  answerers: setting(
    lines,
    [],
    'Users of that proxy who may answer, start and change runs: names, "group:NAME", or "*" for all; everybody else is a viewer.'
  ),
  answerKey: unquoted(
    unset(
      SecretSetting,
      "env:REPRISE_ANSWER_KEY",
      "Key of the links that answer, as env:NAME or file:/path, where the gate and the web console are on different machines and share it; unset: the repository's own."
    )
  ),
  proxySecret: unquoted(
    unset(
      SecretSetting,
      "env:REPRISE_PROXY_SECRET",
      "Secret that the proxy sends in the header X-Reprise-Proxy-Secret, as env:NAME or file:/path; unset: whatever reaches the console on this machine is believed to be the proxy."
    )
  )
} as const
