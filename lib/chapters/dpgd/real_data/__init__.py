"""Do the hyper-parameters and schedules of the theory do as well on real data?"""
