package steps

import (
	"time"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/planner"
)

// Registry is every step this binary can take.
func Registry(w World) (*executor.Registry, error) {
	b := base{w}
	g := settler{b}
	const command = commandDeadline + time.Minute // the gate owns the deadline; this one is for a gate that does not answer
	return executor.NewRegistry(
		executor.Spec{Name: planner.StepInstallGate, Step: installGate{b}, Safety: executor.Idempotent},
		executor.Spec{Name: planner.StepResolveNames, Step: resolveNames{b}, Safety: executor.Idempotent, Poll: 5 * time.Second},
		executor.Spec{Name: planner.StepClaimServer, Step: claimServer{b}, Safety: executor.Idempotent},
		executor.Spec{Name: planner.StepRegisterDirs, Step: registerDirs{b}, Safety: executor.Idempotent},
		executor.Spec{Name: planner.StepReleaseServer, Step: releaseServer{b}, Safety: executor.Idempotent},
		executor.Spec{Name: planner.StepPeerProbe, Step: peerProbe{g}, Safety: executor.ProbeDecidable, Timeout: command, Poll: time.Second},
		executor.Spec{Name: planner.StepPeerSettled, Step: peerSettled{b}, Safety: executor.Idempotent, Poll: time.Second, MaxWait: 10 * time.Minute},
		executor.Spec{Name: planner.StepProbeBack, Step: probeBack{g}, Safety: executor.ProbeDecidable, Timeout: command, Poll: time.Second},
		executor.Spec{Name: planner.StepMakeService, Step: makeService{b}, Safety: executor.Idempotent},
		executor.Spec{Name: planner.StepMakeClaims, Step: makeClaims{b}, Safety: executor.Idempotent},
		executor.Spec{Name: planner.StepMakePod, Step: makePod{b}, Safety: executor.Idempotent},
		executor.Spec{Name: planner.StepPodReady, Step: podReady{b}, Safety: executor.Idempotent},
		executor.Spec{Name: planner.StepHealed, Step: healed{b}, Safety: executor.Idempotent, MaxWait: 30 * 24 * time.Hour},
		executor.Spec{Name: planner.StepRestartPod, Step: restartPod{b}, Safety: executor.Idempotent},
		executor.Spec{Name: planner.StepRemovePod, Step: removePod{b}, Safety: executor.Idempotent},
		executor.Spec{Name: planner.StepRemoveClaims, Step: removeClaims{b}, Safety: executor.Idempotent},
		executor.Spec{Name: planner.StepRemoveService, Step: removeService{b}, Safety: executor.Idempotent},
		executor.Spec{Name: planner.StepFormatDevice, Step: formatDevice{b}, Safety: executor.Idempotent, Timeout: gate.FormatDeadline + time.Minute},
		executor.Spec{Name: planner.StepMountDevice, Step: mountDevice{b}, Safety: executor.Idempotent, Timeout: gate.MountDeadline + time.Minute},
		executor.Spec{Name: planner.StepMakeBricks, Step: makeBricks{b}, Safety: executor.Idempotent},
		executor.Spec{Name: planner.StepCreateVolume, Step: createVolume{g}, Safety: executor.ProbeDecidable, Timeout: command},
		executor.Spec{Name: planner.StepSetOption, Step: setOption{settler: g}, Safety: executor.Idempotent, Timeout: command},
		executor.Spec{Name: planner.StepResetOption, Step: setOption{settler: g, reset: true}, Safety: executor.Idempotent, Timeout: command},
		executor.Spec{Name: planner.StepStartVolume, Step: startVolume{settler: g}, Safety: executor.ProbeDecidable, Timeout: command},
		executor.Spec{Name: planner.StepStopVolume, Step: startVolume{settler: g, stop: true}, Safety: executor.ProbeDecidable, Timeout: command},
		executor.Spec{Name: planner.StepBricksHealthy, Step: bricksHealthy{b}, Safety: executor.Idempotent, Poll: time.Second, MaxWait: 15 * time.Minute},
		executor.Spec{Name: planner.StepAddBrick, Step: addBrick{g}, Safety: executor.ProbeDecidable, Timeout: command},
		executor.Spec{Name: planner.StepRebalance, Step: rebalance{g}, Safety: executor.ProbeDecidable, Timeout: command, Poll: 5 * time.Second, MaxWait: 30 * 24 * time.Hour},
		executor.Spec{Name: planner.StepDeleteVolume, Step: deleteVolume{g}, Safety: executor.ProbeDecidable, Timeout: command},
		executor.Spec{Name: planner.StepRetireBricks, Step: retireBricks{b}, Safety: executor.Idempotent},
	)
}
