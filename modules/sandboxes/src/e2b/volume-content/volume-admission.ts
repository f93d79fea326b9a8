import type { GrantedAccess } from '@svc/access';
import type { FastifyRequest } from 'fastify';
import type { VolumeAccess } from '../../domain/access/volume-access.ts';
import type { Volume } from '../../domain/volumes/volume.ts';
import type { VolumeService } from '../../domain/volumes/volume-service.ts';
import { sandboxErrors } from '../../errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The volume that a request for its files was admitted to. */
    e2bVolume: Volume | null;
  }
}

export interface VolumeAdmissionDeps {
  readonly access: VolumeAccess;
  readonly volumes: Pick<VolumeService, 'getById'>;
}

/** Admits requests for the files of a volume by the volume's token, which clients send as `Authorization: Bearer`. */
export function createVolumeAdmission({ access, volumes }: VolumeAdmissionDeps) {
  return async (request: FastifyRequest): Promise<GrantedAccess> => {
    const { id } = request.params as { id: string }; // the routes' path has it
    const token = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
    if (token === undefined) throw sandboxErrors.VOLUME_TOKEN_INVALID();
    const granted = await access.check(id, token);
    if (granted === null || granted.grant === null) throw sandboxErrors.VOLUME_NOT_FOUND({ details: { name: id } });
    request.e2bVolume = await volumes.getById(granted.grant.workspaceUuid, id);
    return granted;
  };
}

/** Returns the volume of an admitted request. */
export function volumeOf({ e2bVolume }: FastifyRequest): Volume {
  if (e2bVolume === null) throw sandboxErrors.VOLUME_TOKEN_INVALID();
  return e2bVolume;
}
