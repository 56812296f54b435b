/** The settings of notifications, for the command line. As `@reprise/gate/notifications`. */
export { defaultReminders } from "./actor/reminders.ts"
export { isLoopback } from "./notify/addresses.ts"
export { ChannelTable, channelLine, SecretSetting } from "./notify/ChannelSettings.ts"
export { QuietHours } from "./notify/quietHours.ts"
