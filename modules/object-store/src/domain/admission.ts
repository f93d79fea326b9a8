import type { TrafficRefusal, WorkspaceTraffic } from '@svc/quotas';
import { slowDown } from '../errors.ts';
import type { StoreDeps } from './store-deps.ts';

/** Limits concurrent uploads, per workspace and in total. Further uploads get `SlowDown`. */
export class UploadAdmission {
  readonly #limit: number;
  readonly #traffic: WorkspaceTraffic;
  #inside = 0;

  constructor(limit: number, traffic: WorkspaceTraffic) {
    this.#limit = limit;
    this.#traffic = traffic;
  }

  /** Returns a function that ends the upload. Throws `SlowDown`. */
  async enter(workspaceUuid: string): Promise<() => void> {
    if (this.#inside >= this.#limit) throw slowDown(1);
    this.#inside += 1;
    const admission = await this.#traffic.enterUpload(workspaceUuid).catch((error: unknown) => {
      this.#inside -= 1;
      throw error;
    });
    if (admission.refusal !== null) {
      this.#inside -= 1;
      throw tooMuchTraffic(admission.refusal);
    }
    let left = false;
    return () => {
      if (!left) this.#inside -= 1;
      left = true;
      admission.leave();
    };
  }
}

/** `SlowDown` with the limit that the workspace or its owner reached. */
function tooMuchTraffic({ quota, scope, limit, retryAfterSeconds }: TrafficRefusal): Error {
  return slowDown(retryAfterSeconds, { quota, scope, limit });
}

/** Waits for the workspace's turn. Throws `SlowDown` if the workspace or its owner exceeds a limit. */
export async function admitRequest(
  { deps }: { deps: Pick<StoreDeps, 'workspaceTraffic'> },
  workspaceUuid: string,
  isPublic = false,
): Promise<void> {
  const refusal = await deps.workspaceTraffic.admit(workspaceUuid, isPublic);
  if (refusal !== null) throw tooMuchTraffic(refusal);
}
