import fc from 'fast-check';

/**
 * fast-check with new cases each time, but with the same ones for every check of the same commit in CI, where a failure must
 * be about the change that is checked.
 */
if (process.env['CI']) fc.configureGlobal({ seed: 20_260_301 });

export default fc;
