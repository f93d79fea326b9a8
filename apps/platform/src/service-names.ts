/** The services that one process can run; any subset is a valid platform. */
export const SERVICE_NAMES = ['clusters', 'object-store', 'sandboxes'] as const;
export type ServiceName = (typeof SERVICE_NAMES)[number];
