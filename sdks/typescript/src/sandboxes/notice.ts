/** Announces what is about to happen to a sandbox that a command or terminal uses. */
export interface SandboxNotice {
  /** Such as `NODE_DRAINING`. */
  code: string;
  /** One sentence for people. */
  message: string;
  /** When the sandbox stops. ISO 8601, UTC. */
  stopsAt: string;
}

/** Called with notices; they may be repeated. */
export type NoticeListener = (notice: SandboxNotice) => void;

/** Parses the fields of a notice. */
export function parseNotice(fields: Readonly<Record<string, unknown>>): SandboxNotice {
  const { code, message, stops_at: stopsAt } = fields;
  return { code: parseText(code), message: parseText(message), stopsAt: parseText(stopsAt) };
}

function parseText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
