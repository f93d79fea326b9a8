export interface EventsSearch {
  type?: string;
  namespace?: string;
}

export function parseEventsSearch({ type, namespace }: Record<string, unknown>): EventsSearch {
  return {
    ...(typeof type === 'string' && /^[a-z_]{1,128}$/.test(type) && { type }),
    // The router parses numeric text as a number.
    ...((typeof namespace === 'string' || typeof namespace === 'number') &&
      namespace !== '' && { namespace: String(namespace).slice(0, 253) }),
  };
}
