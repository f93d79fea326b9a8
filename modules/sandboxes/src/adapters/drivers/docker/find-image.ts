import { asFields, isMissing, type EngineClient } from './engine-client.ts';

/** Returns the id of an image in the engine by name; null if there is none. */
export async function findImage(client: EngineClient, reference: string, signal: AbortSignal): Promise<string | null> {
  try {
    const found = asFields(await client.json('GET', `/images/${reference}/json`, { signal }));
    return typeof found['Id'] === 'string' ? found['Id'] : null;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}
