import { Type } from 'typebox';

export const workspaceParams = Type.Object({ workspace_uuid: Type.String({ format: 'uuid' }) });

export const bucketParams = Type.Object({
  workspace_uuid: Type.String({ format: 'uuid' }),
  name: Type.String({ minLength: 1, maxLength: 63 }),
});

/** Members of a team reach its workspace only with this. */
export const teamQuery = Type.Object({ team_uuid: Type.Optional(Type.String()) });
