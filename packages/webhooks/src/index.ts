export {
  DeliveryTurns,
  type DeliveryOutcome,
  type DeliveryPass,
  type DeliveryTurnsOptions,
  type WaitingReceiver,
} from './delivery-turns.ts';
export { retryDelayMs } from './retry-delay.ts';
export { newWebhookSecret, signatureHeaders, type SignedMessage } from './signature.ts';
export {
  createWebhookSender,
  WebhookFailure,
  type Webhook,
  type WebhookSender,
  type WebhookSenderOptions,
} from './webhook-sender.ts';
