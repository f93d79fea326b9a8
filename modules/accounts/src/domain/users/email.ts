const MAX_EMAIL_LENGTH = 254; // RFC 5321, 4.5.3.1.3
const SHAPE = /^[^\s@<>"(),:;\\]{1,64}@[^\s@<>"(),:;\\]{1,253}$/u;

/** The normalized form in which e-mails are stored and compared; undefined if invalid. `owner@localhost` is valid. */
export function normalizeEmail(text: string): string | undefined {
  const email = text.trim().normalize('NFC').toLowerCase();
  return email.length <= MAX_EMAIL_LENGTH && SHAPE.test(email) ? email : undefined;
}
