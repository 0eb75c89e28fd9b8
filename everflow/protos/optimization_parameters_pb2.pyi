from google.protobuf import wrappers_pb2 as _wrappers_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ClippingLimits(_message.Message):
    __slots__ = ("lower", "upper")
    LOWER_FIELD_NUMBER: _ClassVar[int]
    UPPER_FIELD_NUMBER: _ClassVar[int]
    lower: _wrappers_pb2.FloatValue
    upper: _wrappers_pb2.FloatValue
    def __init__(self, lower: _Optional[_Union[_wrappers_pb2.FloatValue, _Mapping]] = ..., upper: _Optional[_Union[_wrappers_pb2.FloatValue, _Mapping]] = ...) -> None: ...

class DynamicLearningRate(_message.Message):
    __slots__ = ("tag",)
    TAG_FIELD_NUMBER: _ClassVar[int]
    tag: int
    def __init__(self, tag: _Optional[int] = ...) -> None: ...

class LearningRate(_message.Message):
    __slots__ = ("constant", "dynamic")
    CONSTANT_FIELD_NUMBER: _ClassVar[int]
    DYNAMIC_FIELD_NUMBER: _ClassVar[int]
    constant: float
    dynamic: DynamicLearningRate
    def __init__(self, constant: _Optional[float] = ..., dynamic: _Optional[_Union[DynamicLearningRate, _Mapping]] = ...) -> None: ...

class AdagradParameters(_message.Message):
    __slots__ = ("initial_accumulator",)
    INITIAL_ACCUMULATOR_FIELD_NUMBER: _ClassVar[int]
    initial_accumulator: float
    def __init__(self, initial_accumulator: _Optional[float] = ...) -> None: ...

class BoundedAdagradParameters(_message.Message):
    __slots__ = ("update_accumulator_first", "max_var_update", "max_accumulator")
    UPDATE_ACCUMULATOR_FIRST_FIELD_NUMBER: _ClassVar[int]
    MAX_VAR_UPDATE_FIELD_NUMBER: _ClassVar[int]
    MAX_ACCUMULATOR_FIELD_NUMBER: _ClassVar[int]
    update_accumulator_first: bool
    max_var_update: float
    max_accumulator: float
    def __init__(self, update_accumulator_first: bool = ..., max_var_update: _Optional[float] = ..., max_accumulator: _Optional[float] = ...) -> None: ...

class StochasticGradientDescentParameters(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class FtrlParameters(_message.Message):
    __slots__ = ("l1", "l2", "lr_power", "initial_accum", "initial_linear")
    L1_FIELD_NUMBER: _ClassVar[int]
    L2_FIELD_NUMBER: _ClassVar[int]
    LR_POWER_FIELD_NUMBER: _ClassVar[int]
    INITIAL_ACCUM_FIELD_NUMBER: _ClassVar[int]
    INITIAL_LINEAR_FIELD_NUMBER: _ClassVar[int]
    l1: float
    l2: float
    lr_power: float
    initial_accum: float
    initial_linear: float
    def __init__(self, l1: _Optional[float] = ..., l2: _Optional[float] = ..., lr_power: _Optional[float] = ..., initial_accum: _Optional[float] = ..., initial_linear: _Optional[float] = ...) -> None: ...

class AdamParameters(_message.Message):
    __slots__ = ("beta1", "beta2", "epsilon", "initial_m", "initial_v", "use_non_lazy_adam", "use_sum_inside_sqrt")
    BETA1_FIELD_NUMBER: _ClassVar[int]
    BETA2_FIELD_NUMBER: _ClassVar[int]
    EPSILON_FIELD_NUMBER: _ClassVar[int]
    INITIAL_M_FIELD_NUMBER: _ClassVar[int]
    INITIAL_V_FIELD_NUMBER: _ClassVar[int]
    USE_NON_LAZY_ADAM_FIELD_NUMBER: _ClassVar[int]
    USE_SUM_INSIDE_SQRT_FIELD_NUMBER: _ClassVar[int]
    beta1: float
    beta2: float
    epsilon: float
    initial_m: float
    initial_v: float
    use_non_lazy_adam: bool
    use_sum_inside_sqrt: bool
    def __init__(self, beta1: _Optional[float] = ..., beta2: _Optional[float] = ..., epsilon: _Optional[float] = ..., initial_m: _Optional[float] = ..., initial_v: _Optional[float] = ..., use_non_lazy_adam: bool = ..., use_sum_inside_sqrt: bool = ...) -> None: ...

class MomentumParameters(_message.Message):
    __slots__ = ("momentum", "use_nesterov", "initial_accum")
    MOMENTUM_FIELD_NUMBER: _ClassVar[int]
    USE_NESTEROV_FIELD_NUMBER: _ClassVar[int]
    INITIAL_ACCUM_FIELD_NUMBER: _ClassVar[int]
    momentum: float
    use_nesterov: bool
    initial_accum: float
    def __init__(self, momentum: _Optional[float] = ..., use_nesterov: bool = ..., initial_accum: _Optional[float] = ...) -> None: ...

class RmsPropParameters(_message.Message):
    __slots__ = ("rho", "momentum", "epsilon", "initial_ms", "initial_mom")
    RHO_FIELD_NUMBER: _ClassVar[int]
    MOMENTUM_FIELD_NUMBER: _ClassVar[int]
    EPSILON_FIELD_NUMBER: _ClassVar[int]
    INITIAL_MS_FIELD_NUMBER: _ClassVar[int]
    INITIAL_MOM_FIELD_NUMBER: _ClassVar[int]
    rho: float
    momentum: float
    epsilon: float
    initial_ms: float
    initial_mom: float
    def __init__(self, rho: _Optional[float] = ..., momentum: _Optional[float] = ..., epsilon: _Optional[float] = ..., initial_ms: _Optional[float] = ..., initial_mom: _Optional[float] = ...) -> None: ...

class CenteredRmsPropParameters(_message.Message):
    __slots__ = ("rho", "momentum", "epsilon", "initial_ms", "initial_mom", "initial_mg")
    RHO_FIELD_NUMBER: _ClassVar[int]
    MOMENTUM_FIELD_NUMBER: _ClassVar[int]
    EPSILON_FIELD_NUMBER: _ClassVar[int]
    INITIAL_MS_FIELD_NUMBER: _ClassVar[int]
    INITIAL_MOM_FIELD_NUMBER: _ClassVar[int]
    INITIAL_MG_FIELD_NUMBER: _ClassVar[int]
    rho: float
    momentum: float
    epsilon: float
    initial_ms: float
    initial_mom: float
    initial_mg: float
    def __init__(self, rho: _Optional[float] = ..., momentum: _Optional[float] = ..., epsilon: _Optional[float] = ..., initial_ms: _Optional[float] = ..., initial_mom: _Optional[float] = ..., initial_mg: _Optional[float] = ...) -> None: ...

class MdlAdagradLightParameters(_message.Message):
    __slots__ = ("l2", "lr_power", "min_servable_mdl_benefit", "mdl_mix_in_margin", "mdl_benefit_rampup_coeff", "mdl_min_weight", "benefit_revisit_scale", "max_event_benefit", "max_total_benefit", "mdl_hard_limit", "hard_limit_min_benefit", "mdl_regularize", "initial_accumulator", "initial_weight", "initial_benefit")
    L2_FIELD_NUMBER: _ClassVar[int]
    LR_POWER_FIELD_NUMBER: _ClassVar[int]
    MIN_SERVABLE_MDL_BENEFIT_FIELD_NUMBER: _ClassVar[int]
    MDL_MIX_IN_MARGIN_FIELD_NUMBER: _ClassVar[int]
    MDL_BENEFIT_RAMPUP_COEFF_FIELD_NUMBER: _ClassVar[int]
    MDL_MIN_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    BENEFIT_REVISIT_SCALE_FIELD_NUMBER: _ClassVar[int]
    MAX_EVENT_BENEFIT_FIELD_NUMBER: _ClassVar[int]
    MAX_TOTAL_BENEFIT_FIELD_NUMBER: _ClassVar[int]
    MDL_HARD_LIMIT_FIELD_NUMBER: _ClassVar[int]
    HARD_LIMIT_MIN_BENEFIT_FIELD_NUMBER: _ClassVar[int]
    MDL_REGULARIZE_FIELD_NUMBER: _ClassVar[int]
    INITIAL_ACCUMULATOR_FIELD_NUMBER: _ClassVar[int]
    INITIAL_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    INITIAL_BENEFIT_FIELD_NUMBER: _ClassVar[int]
    l2: float
    lr_power: float
    min_servable_mdl_benefit: float
    mdl_mix_in_margin: float
    mdl_benefit_rampup_coeff: float
    mdl_min_weight: float
    benefit_revisit_scale: float
    max_event_benefit: float
    max_total_benefit: float
    mdl_hard_limit: float
    hard_limit_min_benefit: bool
    mdl_regularize: bool
    initial_accumulator: float
    initial_weight: float
    initial_benefit: float
    def __init__(self, l2: _Optional[float] = ..., lr_power: _Optional[float] = ..., min_servable_mdl_benefit: _Optional[float] = ..., mdl_mix_in_margin: _Optional[float] = ..., mdl_benefit_rampup_coeff: _Optional[float] = ..., mdl_min_weight: _Optional[float] = ..., benefit_revisit_scale: _Optional[float] = ..., max_event_benefit: _Optional[float] = ..., max_total_benefit: _Optional[float] = ..., mdl_hard_limit: _Optional[float] = ..., hard_limit_min_benefit: bool = ..., mdl_regularize: bool = ..., initial_accumulator: _Optional[float] = ..., initial_weight: _Optional[float] = ..., initial_benefit: _Optional[float] = ...) -> None: ...

class AdadeltaParameters(_message.Message):
    __slots__ = ("rho", "epsilon", "initial_accumulator", "initial_update")
    RHO_FIELD_NUMBER: _ClassVar[int]
    EPSILON_FIELD_NUMBER: _ClassVar[int]
    INITIAL_ACCUMULATOR_FIELD_NUMBER: _ClassVar[int]
    INITIAL_UPDATE_FIELD_NUMBER: _ClassVar[int]
    rho: float
    epsilon: float
    initial_accumulator: float
    initial_update: float
    def __init__(self, rho: _Optional[float] = ..., epsilon: _Optional[float] = ..., initial_accumulator: _Optional[float] = ..., initial_update: _Optional[float] = ...) -> None: ...

class ProximalAdagradParameters(_message.Message):
    __slots__ = ("l1", "l2", "initial_accumulator")
    L1_FIELD_NUMBER: _ClassVar[int]
    L2_FIELD_NUMBER: _ClassVar[int]
    INITIAL_ACCUMULATOR_FIELD_NUMBER: _ClassVar[int]
    l1: float
    l2: float
    initial_accumulator: float
    def __init__(self, l1: _Optional[float] = ..., l2: _Optional[float] = ..., initial_accumulator: _Optional[float] = ...) -> None: ...

class OnlineYogiParameters(_message.Message):
    __slots__ = ("l1", "l2", "beta2", "initial_v", "initial_linear", "sign", "tanh")
    class SignActivation(_message.Message):
        __slots__ = ()
        def __init__(self) -> None: ...
    class TanhActivation(_message.Message):
        __slots__ = ()
        def __init__(self) -> None: ...
    L1_FIELD_NUMBER: _ClassVar[int]
    L2_FIELD_NUMBER: _ClassVar[int]
    BETA2_FIELD_NUMBER: _ClassVar[int]
    INITIAL_V_FIELD_NUMBER: _ClassVar[int]
    INITIAL_LINEAR_FIELD_NUMBER: _ClassVar[int]
    SIGN_FIELD_NUMBER: _ClassVar[int]
    TANH_FIELD_NUMBER: _ClassVar[int]
    l1: float
    l2: float
    beta2: float
    initial_v: float
    initial_linear: float
    sign: OnlineYogiParameters.SignActivation
    tanh: OnlineYogiParameters.TanhActivation
    def __init__(self, l1: _Optional[float] = ..., l2: _Optional[float] = ..., beta2: _Optional[float] = ..., initial_v: _Optional[float] = ..., initial_linear: _Optional[float] = ..., sign: _Optional[_Union[OnlineYogiParameters.SignActivation, _Mapping]] = ..., tanh: _Optional[_Union[OnlineYogiParameters.TanhActivation, _Mapping]] = ...) -> None: ...

class GradientAccumulationStatus(_message.Message):
    __slots__ = ()
    class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNSPECIFIED: _ClassVar[GradientAccumulationStatus.Status]
        ENABLED: _ClassVar[GradientAccumulationStatus.Status]
        DISABLED: _ClassVar[GradientAccumulationStatus.Status]
    UNSPECIFIED: GradientAccumulationStatus.Status
    ENABLED: GradientAccumulationStatus.Status
    DISABLED: GradientAccumulationStatus.Status
    def __init__(self) -> None: ...

class HotIdReplicationConfiguration(_message.Message):
    __slots__ = ("status",)
    class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNSPECIFIED: _ClassVar[HotIdReplicationConfiguration.Status]
        ENABLED: _ClassVar[HotIdReplicationConfiguration.Status]
        DISABLED: _ClassVar[HotIdReplicationConfiguration.Status]
    UNSPECIFIED: HotIdReplicationConfiguration.Status
    ENABLED: HotIdReplicationConfiguration.Status
    DISABLED: HotIdReplicationConfiguration.Status
    STATUS_FIELD_NUMBER: _ClassVar[int]
    status: HotIdReplicationConfiguration.Status
    def __init__(self, status: _Optional[_Union[HotIdReplicationConfiguration.Status, str]] = ...) -> None: ...

class OptimizationParameters(_message.Message):
    __slots__ = ("learning_rate", "clipping_limits", "gradient_clipping_limits", "weight_decay_factor", "gradient_accumulation_status", "hot_id_replication_configuration", "adagrad", "bounded_adagrad", "stochastic_gradient_descent", "ftrl", "adam", "momentum", "rms_prop", "centered_rms_prop", "mdl_adagrad_light", "adadelta", "proximal_adagrad", "online_yogi")
    LEARNING_RATE_FIELD_NUMBER: _ClassVar[int]
    CLIPPING_LIMITS_FIELD_NUMBER: _ClassVar[int]
    GRADIENT_CLIPPING_LIMITS_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_DECAY_FACTOR_FIELD_NUMBER: _ClassVar[int]
    GRADIENT_ACCUMULATION_STATUS_FIELD_NUMBER: _ClassVar[int]
    HOT_ID_REPLICATION_CONFIGURATION_FIELD_NUMBER: _ClassVar[int]
    ADAGRAD_FIELD_NUMBER: _ClassVar[int]
    BOUNDED_ADAGRAD_FIELD_NUMBER: _ClassVar[int]
    STOCHASTIC_GRADIENT_DESCENT_FIELD_NUMBER: _ClassVar[int]
    FTRL_FIELD_NUMBER: _ClassVar[int]
    ADAM_FIELD_NUMBER: _ClassVar[int]
    MOMENTUM_FIELD_NUMBER: _ClassVar[int]
    RMS_PROP_FIELD_NUMBER: _ClassVar[int]
    CENTERED_RMS_PROP_FIELD_NUMBER: _ClassVar[int]
    MDL_ADAGRAD_LIGHT_FIELD_NUMBER: _ClassVar[int]
    ADADELTA_FIELD_NUMBER: _ClassVar[int]
    PROXIMAL_ADAGRAD_FIELD_NUMBER: _ClassVar[int]
    ONLINE_YOGI_FIELD_NUMBER: _ClassVar[int]
    learning_rate: LearningRate
    clipping_limits: ClippingLimits
    gradient_clipping_limits: ClippingLimits
    weight_decay_factor: float
    gradient_accumulation_status: GradientAccumulationStatus.Status
    hot_id_replication_configuration: HotIdReplicationConfiguration
    adagrad: AdagradParameters
    bounded_adagrad: BoundedAdagradParameters
    stochastic_gradient_descent: StochasticGradientDescentParameters
    ftrl: FtrlParameters
    adam: AdamParameters
    momentum: MomentumParameters
    rms_prop: RmsPropParameters
    centered_rms_prop: CenteredRmsPropParameters
    mdl_adagrad_light: MdlAdagradLightParameters
    adadelta: AdadeltaParameters
    proximal_adagrad: ProximalAdagradParameters
    online_yogi: OnlineYogiParameters
    def __init__(self, learning_rate: _Optional[_Union[LearningRate, _Mapping]] = ..., clipping_limits: _Optional[_Union[ClippingLimits, _Mapping]] = ..., gradient_clipping_limits: _Optional[_Union[ClippingLimits, _Mapping]] = ..., weight_decay_factor: _Optional[float] = ..., gradient_accumulation_status: _Optional[_Union[GradientAccumulationStatus.Status, str]] = ..., hot_id_replication_configuration: _Optional[_Union[HotIdReplicationConfiguration, _Mapping]] = ..., adagrad: _Optional[_Union[AdagradParameters, _Mapping]] = ..., bounded_adagrad: _Optional[_Union[BoundedAdagradParameters, _Mapping]] = ..., stochastic_gradient_descent: _Optional[_Union[StochasticGradientDescentParameters, _Mapping]] = ..., ftrl: _Optional[_Union[FtrlParameters, _Mapping]] = ..., adam: _Optional[_Union[AdamParameters, _Mapping]] = ..., momentum: _Optional[_Union[MomentumParameters, _Mapping]] = ..., rms_prop: _Optional[_Union[RmsPropParameters, _Mapping]] = ..., centered_rms_prop: _Optional[_Union[CenteredRmsPropParameters, _Mapping]] = ..., mdl_adagrad_light: _Optional[_Union[MdlAdagradLightParameters, _Mapping]] = ..., adadelta: _Optional[_Union[AdadeltaParameters, _Mapping]] = ..., proximal_adagrad: _Optional[_Union[ProximalAdagradParameters, _Mapping]] = ..., online_yogi: _Optional[_Union[OnlineYogiParameters, _Mapping]] = ...) -> None: ...

class StateVariableSpecification(_message.Message):
    __slots__ = ("name", "user_defined", "fill_with_constant")
    class UserDefined(_message.Message):
        __slots__ = ("padding_initial_value",)
        PADDING_INITIAL_VALUE_FIELD_NUMBER: _ClassVar[int]
        padding_initial_value: float
        def __init__(self, padding_initial_value: _Optional[float] = ...) -> None: ...
    class FillWithConstant(_message.Message):
        __slots__ = ("initial_value",)
        INITIAL_VALUE_FIELD_NUMBER: _ClassVar[int]
        initial_value: float
        def __init__(self, initial_value: _Optional[float] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    USER_DEFINED_FIELD_NUMBER: _ClassVar[int]
    FILL_WITH_CONSTANT_FIELD_NUMBER: _ClassVar[int]
    name: str
    user_defined: StateVariableSpecification.UserDefined
    fill_with_constant: StateVariableSpecification.FillWithConstant
    def __init__(self, name: _Optional[str] = ..., user_defined: _Optional[_Union[StateVariableSpecification.UserDefined, _Mapping]] = ..., fill_with_constant: _Optional[_Union[StateVariableSpecification.FillWithConstant, _Mapping]] = ...) -> None: ...
